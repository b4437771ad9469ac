#include "test/core/driver_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/bytes.h"
#include "common/core/state.h"
#include "common/field/key_share.h"
#include "common/protocol/key_tree.h"

static const char *const statuses[] = {NULL,	     "hello training", "hello ready",  "hello done",
				       "hello open", "hello abstains", "hello failing"};

static void set_view(const struct driver *p, const struct words *w, uint8_t view[static SL_HASH_BYTES])
{
	memcpy(view, p->h, SL_HASH_BYTES);
	if (words_field(w, 'v', UINT32_MAX) == UINT32_MAX)
		return;
	memset(view, 0, SL_HASH_BYTES);
	view[0] = (uint8_t)words_field(w, 'v', 0);
}

static void fill_set(uint8_t *set, size_t size, const struct words *w, enum words_list list)
{
	memset(set, 0, size);
	for (uint32_t k = 0; k < w->count[list]; k++)
		set[w->list[list][k] / 8] |= (uint8_t)(1u << w->list[list][k] % 8);
}

/* --- what they sign for: key and challenge begin with the id --- */

/* Make the key shares of learner `id` for its neighbours in the view. */
static uint32_t deal(const struct driver *p, sl_id id, struct sl_held_share *shares, uint8_t *root)
{
	const struct sl_view *view = p->view;
	uint32_t position = view->position[id - 1], count = sl_graph_degree(&view->graph, position);
	uint8_t key[SL_KEY_BYTES] = {(uint8_t)id}, made[WORDS_LIST_MAX][SL_KEY_SHARE_BYTES],
		nodes[4 * WORDS_LIST_MAX][SL_HASH_BYTES];
	sl_id holders[WORDS_LIST_MAX];
	struct sl_prg randomness;
	sl_prg_open(&randomness, key);
	for (uint32_t r = 0; r < count; r++)
		holders[r] = view->ids[sl_graph_neighbours(&view->graph, position)[r]];
	sl_key_share_split(key, sl_view_threshold(view, position), holders, count, &randomness, made);
	for (uint32_t r = 0; r < count; r++)
		memcpy(shares[r].bytes, made[r], SL_KEY_SHARE_BYTES);
	sl_key_tree_build(&p->config.scope, view->t, view->a, id, holders, count, shares, root, nodes);
	return count;
}

void message_root(const struct driver *p, uint8_t *root)
{
	struct sl_held_share shares[WORDS_LIST_MAX];
	deal(p, 1, shares, root);
}

/* Write the key share of `owner` at `holder`. */
static void opening(const struct driver *p, sl_id owner, sl_id holder, struct sl_held_share *share)
{
	const struct sl_view *view = p->view;
	struct sl_held_share shares[WORDS_LIST_MAX];
	uint8_t root[SL_HASH_BYTES];
	uint32_t position = view->position[owner - 1];
	uint32_t count = deal(p, owner, shares, root);
	memset(share, 0, sizeof *share);
	share->size = shares[0].size;
	for (uint32_t r = 0; r < count; r++)
		if (view->ids[sl_graph_neighbours(&view->graph, position)[r]] == holder)
			*share = shares[r];
}

/* Fill in what a Ready commits to. */
static void commit(const struct driver *p, struct sl_ready *ready)
{
	struct sl_held_share shares[WORDS_LIST_MAX];
	uint8_t secret[SL_KEY_BYTES] = {(uint8_t)ready->id};
	ready->deposit[0] = (uint8_t)ready->id;
	sl_canonical_key(&p->config.scope, ready->id, secret, ready->key_hash);
	sl_canonical_challenge(&p->config.scope, ready->id, secret, ready->challenge_hash);
	if (p->view != NULL && p->view->graph.n > 0 && p->view->t == ready->t && p->view->a == ready->a &&
	    p->view->position[ready->id - 1] != UINT32_MAX)
		deal(p, ready->id, shares, ready->share_root);
}

size_t message_checksums(const struct driver *p, sl_id id, uint64_t *values)
{
	const struct sl_view *view = p->view;
	uint32_t signer = view->position[id - 1], points = sl_view_points(view);
	size_t count = 0;
	for (uint32_t k = 0; k < points; k++)
		values[count++] = signer + 1;
	for (uint32_t i = 0; i < view->n; i++)
		for (uint32_t k = 0; k < points && sl_view_keeper(view, i, signer); k++)
			values[count++] = i + 1;
	return count;
}

static struct sl_round_head round_of(const struct driver *p, sl_round t, sl_attempt a, uint32_t *members)
{
	struct sl_round_head round = {.t = t,
				      .a = a,
				      .p = SL_P_MERSENNE31,
				      .forgetful = p->config.parameters.forgetful,
				      .n = p->config.parameters.n,
				      .model = p->config.parameters.model,
				      .values = p->config.parameters.values,
				      .members = members,
				      .count = 2 * p->config.roster_size};
	memcpy(round.roster, p->config.scope.roster, SL_HASH_BYTES);
	for (uint32_t i = 0; i < p->config.roster_size; i++) {
		members[2 * i] = p->ids[i];
		members[2 * i + 1] = 1;
	}
	return round;
}

/* --- a message of each kind --- */

/* What the words say of every message. */
struct said {
	sl_id id, from;
	sl_round t;
	sl_attempt a;
	uint32_t incarnation, index;
};

#define FILL(kind)                                                                                           \
	static void fill_##kind(struct driver *p, struct words *w, const struct said *said, struct played *m)

FILL(hello)
{
	m->message.hello = (struct sl_hello){
		.id = said->id, .incarnation = said->incarnation, .t = said->t, .a = said->a};
	m->message.hello.status = words_find(statuses, 6, w->head);
	memcpy(m->message.hello.records, p->told, SL_HASH_BYTES);
	m->message.hello.records[0] ^= (uint8_t)words_field(w, 'x', 0);
}

FILL(link_state)
{
	struct sl_link_state *state = &m->message.link_state;
	if (w->count[NAMES] == 0 && words_field(w, 'n', 1) != 0)
		words_add_all(p, w, NAMES, said->id);
	*state = (struct sl_link_state){.id = said->id,
					.incarnation = said->incarnation,
					.t = said->t,
					.a = said->a,
					.n = p->config.parameters.n,
					.values = p->config.parameters.values,
					.initial = p->config.parameters.initial,
					.candidates = w->list[NAMES],
					.count = w->count[NAMES]};
	state->model = words_field(w, 'm', (uint32_t)p->config.parameters.model);
	state->failed = words_field(w, 'f', 0);
	state->signature[0] = (uint8_t)w->count[NAMES]; /* differs with what it covers */
}

FILL(ready)
{
	struct sl_ready *ready = &m->message.ready;
	*ready = (struct sl_ready){.id = said->id, .t = said->t, .a = said->a, .k = words_field(w, 'k', 3)};
	set_view(p, w, ready->view);
	ready->signature[0] = (uint8_t)ready->k; /* differs with what it covers */
	commit(p, ready);
}

FILL(key)
{
	m->message.key = (struct sl_key){.t = said->t, .a = said->a, .origin = said->id};
	set_view(p, w, m->message.key.view);
	m->message.key.key[0] = (uint8_t)words_field(w, 'k', said->id);
	memcpy(m->message.key.readys, p->core->at.readys_hash, SL_HASH_BYTES);
	m->message.key.readys[0] ^= (uint8_t)words_field(w, 's', 0); /* other Readys */
}

FILL(opening)
{
	sl_id holder = words_single(w, BY, said->from);
	opening(p, said->id, holder, &m->share);
	m->message.opening = (struct sl_opening){.t = said->t,
						 .a = said->a,
						 .origin = said->id,
						 .holder = holder,
						 .share = m->share.bytes,
						 .size = m->share.size};
	m->share.bytes[0] ^= (uint8_t)words_field(w, 'x', 0);
	set_view(p, w, m->message.opening.view);
}

FILL(challenge)
{
	m->message.challenge = (struct sl_challenge){.t = said->t, .a = said->a, .origin = said->id};
	set_view(p, w, m->message.challenge.view);
	m->message.challenge.value[0] = (uint8_t)words_field(w, 'k', said->id);
}

FILL(checksum)
{
	struct sl_checksums *checksums = &m->message.checksums;
	*checksums = (struct sl_checksums){.t = said->t, .a = said->a, .id = said->id};
	set_view(p, w, checksums->view);
	uint64_t values[MESSAGE_VALUES_MAX];
	uint32_t points = sl_view_points(p->view), bits = p->view->field.bits;
	size_t count = message_checksums(p, said->id, values), row = sl_packed_bytes(points, bits);
	values[0] += words_field(w, 'x', 0);
	for (size_t k = 0; k < count / points; k++)
		sl_bytes_pack(m->packed + k * row, values + k * points, points, bits);
	m->packed[row - 1] |= (uint8_t)(words_field(w, 'f', 0) << 7); /* a bit that fills */
	checksums->values = m->packed;
	checksums->size = count / points * row + words_single(w, SIZE, 0);
}

FILL(round)
{
	m->message.round_head = round_of(p, said->t, said->a, m->members);
	m->message.round_head.previous[0] = (uint8_t)words_field(w, 'd', 0);
	sl_canonical_round(&p->config.scope, &m->message.round_head, p->h);
}

FILL(digest)
{
	m->message.digest = (struct sl_digest){.id = said->id, .t = said->t, .a = said->a};
	m->message.digest.digest[0] = (uint8_t)words_field(w, 'd', 7);
	set_view(p, w, m->message.digest.view);
}

FILL(request)
{
	(void)p;
	m->message.request = (struct sl_request){.t = said->t,
						 .a = words_field(w, 'a', 0),
						 .index = said->index,
						 .origin = words_single(w, OF, 0)};
}

FILL(abort)
{
	m->message.abort = (struct sl_abort){.id = said->id,
					     .incarnation = said->incarnation,
					     .t = said->t,
					     .a = said->a,
					     .says = words_field(w, 'g', 0)};
	if (words_field(w, 'r', 0) != 0)
		m->message.abort.says |= SL_ABORT_UNRELEASED;
	if (m->message.abort.says == 0) {
		m->message.abort.says = SL_ABORT_PROMISES;
	} else {
		struct sl_message ready = {.kind = SL_MSG_READY};
		ready.ready = (struct sl_ready){.id = said->id, .t = said->t, .a = said->a, .k = 3};
		set_view(p, w, ready.ready.view);
		commit(p, &ready.ready);
		sl_canonical_message(&p->config.scope, &ready, m->message.abort.ready);
	}
}

FILL(have)
{
	struct sl_have *have = &m->message.have;
	*have = (struct sl_have){.t = said->t, .a = said->a, .held = m->held, .keys = m->keys};
	have->size = have->keys_size = (p->view->n + 7) / 8 + words_single(w, SIZE, 0);
	fill_set(m->held, sizeof m->held, w, PLAIN);
	fill_set(m->keys, sizeof m->keys, w, KEYS);
	set_view(p, w, have->view);
}

FILL(model)
{
	(void)p, (void)w, (void)said;
	m->message.model = (struct sl_model){.count = 1, .size = sizeof m->held, .tensors = m->held};
}

FILL(chunk)
{
	m->message.chunk = (struct sl_chunk){.t = said->t,
					     .a = said->a,
					     .index = said->index,
					     .iteration = words_field(w, 'k', 0),
					     .origin = words_single(w, OF, 0)};
	set_view(p, w, m->message.chunk.view);
}

static const struct {
	const char *name;
	void (*fill)(struct driver *p, struct words *w, const struct said *said, struct played *m);
} kinds[SL_MESSAGE_KINDS] = {[SL_MSG_HELLO] = {"hello", fill_hello},
			     [SL_MSG_LINK_STATE] = {"link state", fill_link_state},
			     [SL_MSG_READY] = {"ready", fill_ready},
			     [SL_MSG_DIGEST] = {"digest", fill_digest},
			     [SL_MSG_REQUEST] = {"request", fill_request},
			     [SL_MSG_ABORT] = {"abort", fill_abort},
			     [SL_MSG_HAVE] = {"have", fill_have},
			     [SL_MSG_MODEL] = {"model", fill_model},
			     [SL_MSG_SHARE] = {"share", fill_chunk},
			     [SL_MSG_STATE] = {"state", fill_chunk},
			     [SL_MSG_RESULT] = {"result", fill_chunk},
			     [SL_MSG_DEPOSIT] = {"deposit", fill_chunk},
			     [SL_MSG_KEY] = {"key", fill_key},
			     [SL_MSG_OPENING] = {"opening", fill_opening},
			     [SL_MSG_CHALLENGE] = {"challenge", fill_challenge},
			     [SL_MSG_ROUND] = {"round", fill_round},
			     [SL_MSG_CHECKSUM] = {"checksum", fill_checksum},
			     [SL_MSG_KEY_SHARE] = {"key share", fill_chunk}};

uint32_t message_kind(const char *head)
{
	uint32_t found = SL_MESSAGE_KINDS;
	size_t longest = 0; /* "key share" begins with "key" */
	for (uint32_t kind = 0; kind < SL_MESSAGE_KINDS; kind++) {
		size_t length = kinds[kind].name != NULL ? strlen(kinds[kind].name) : 0;
		if (length > longest && strncmp(head, kinds[kind].name, length) == 0) {
			longest = length;
			found = kind;
		}
	}
	return found;
}

void message_play(struct driver *p, struct words *w, enum sl_message_kind kind, sl_id from, struct played *m)
{
	const struct said said = {.id = words_single(w, OF, from),
				  .from = from,
				  .t = words_field(w, 't', 1),
				  .a = words_field(w, 'a', p->view == NULL ? 1 : p->view->a),
				  .incarnation = words_field(w, 'i', 1),
				  .index = words_single(w, PLAIN, 0)};
	memset(m, 0, sizeof *m);
	m->message.kind = kind;
	kinds[kind].fill(p, w, &said, m);
}

struct sl_buffer *message_buffer(const struct driver *p, const struct words *w, const struct sl_message *m,
				 sl_id from)
{
	struct sl_held_share share = {0};
	uint64_t elements = p->config.parameters.n + 1;
	uint64_t most = m->kind == SL_MSG_STATE ? p->view->state_elements : SL_CHUNK_ELEMENTS;
	uint64_t at = m->chunk.index * most;
	uint64_t left = at < elements ? elements - at : 1;
	uint64_t bytes = left < most ? left : most;
	if (m->kind == SL_MSG_SHARE && p->view->sharing == SL_SHARING_SEEDED)
		bytes = SL_KEY_BYTES;
	else if (m->kind == SL_MSG_RESULT)
		bytes *= SL_RESULT_BYTES / SL_CHUNK_ELEMENTS;
	else if (m->kind == SL_MSG_KEY_SHARE)
		opening(p, from, 1, &share);
	else
		bytes = sl_packed_bytes(bytes, m->kind == SL_MSG_STATE ? sl_view_mixing_bits(p->view)
								       : p->view->field.bits);
	struct sl_buffer *buffer = calloc(1, sizeof *buffer);
	bytes = share.size > 0 ? share.size : bytes;
	buffer->size = (size_t)((int64_t)bytes + (int32_t)words_single(w, SIZE, 0));
	buffer->bytes = calloc(1, buffer->size);
	memcpy(buffer->bytes, share.bytes, share.size < buffer->size ? share.size : buffer->size);
	if (share.size > 0)
		buffer->bytes[0] ^= (uint8_t)words_field(w, 'x', 0);
	return buffer;
}
