#include "test/simulator/lie.h"

#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/explorer/packed.h"
#include "test/simulator/check.h"

static const char *const names[SL_SIM_LIE_COUNT] = {
#define X(name, word, usual, text) [SL_SIM_LIE_##name] = word,
	SL_SIM_LIES(X)
#undef X
};

const char *sl_sim_lie_name(enum sl_sim_lie lie)
{
	return names[lie];
}

static uint64_t below(struct sl_sim_lies *l, uint64_t bound)
{
	return sl_sim_random(&l->random) % bound;
}

/* --- elements of vectors --- */

/* Where an element of a chunk lies. */
struct element {
	struct sl_sim_attempt *page;
	uint8_t *chunk;
	size_t at;	/* in the chunk */
	uint64_t index; /* of the vector */
	uint32_t bits;
	uint32_t shifted; /* bits: a state of metropolis is a multiple of 2^shifted */
};

/* Find element `k` of the chunk. Return false if the chunk is a seed, or there is none. */
static bool find_element(const struct sl_sim *sim, uint32_t i, const struct sl_message *m, uint64_t k,
			 struct element *e)
{
	struct sl_sim_attempt *page = sl_sim_check_find(sim, m->chunk.view);
	const struct sl_view *view = sim->learners[i].host.view;
	if (page == NULL || m->chunk.size == 0 || view == NULL ||
	    (m->kind == SL_MSG_SHARE && view->sharing == SL_SHARING_SEEDED))
		return false;
	uint32_t most = m->kind == SL_MSG_STATE ? view->state_elements : SL_CHUNK_ELEMENTS;
	uint64_t first = (uint64_t)m->chunk.index * most;
	uint64_t count = page->elements - first < most ? page->elements - first : most;
	*e = (struct element){.page = page, .chunk = (uint8_t *)m->chunk.bytes, .at = (size_t)(k % count)};
	e->index = first + k % count;
	e->bits = m->kind == SL_MSG_STATE ? sl_view_mixing_bits(view) : view->field.bits;
	if (m->kind == SL_MSG_STATE && sl_engine_rows[view->engine].rounds)
		e->shifted = view->fraction;
	return true;
}

static uint64_t get(const struct element *e)
{
	return sl_bytes_element(e->chunk, e->at, e->bits);
}

/* A share counts as the input of its sender: what the sum should be is changed with it. */
static void set(const struct element *e, uint32_t i, const struct sl_message *m, uint64_t value)
{
	uint64_t p = e->page->p, was = get(e), *x = e->page->of[i].x;
	packed_replace(e->chunk, e->at, e->bits, value);
	if (m->kind != SL_MSG_SHARE || x == NULL || value >= p)
		return;
	e->page->of[i].altered = true;
	x[e->index] = (uint64_t)(((unsigned __int128)x[e->index] + value + p - was) % p);
}

static bool add(struct sl_sim *sim, uint32_t i, const struct sl_message *m, uint64_t by)
{
	struct element e;
	if (!find_element(sim, i, m, 0, &e))
		return false;
	if (e.shifted != 0)
		set(&e, i, m, get(&e) + (by << e.shifted));
	else
		set(&e, i, m, (uint64_t)(((unsigned __int128)get(&e) + by) % e.page->p));
	return true;
}

static bool flip(struct sl_sim *sim, uint32_t i, const struct sl_message *m)
{
	struct element e;
	if (!find_element(sim, i, m, sl_sim_random(&sim->lies->random), &e))
		return false;
	set(&e, i, m, get(&e) ^ UINT64_C(1) << below(sim->lies, e.bits));
	return true;
}

/* --- the lies: each returns false if it does not apply to the message. `j`: the receiver --- */

#define DROP ((int)-1)

/* Return true if the liar tells the truth to `j`. */
static bool spared(const struct sl_sim *sim, uint32_t j)
{
	return sim->lies->differ && j % 2 == 0;
}

static int lie_result(const struct sl_sim *sim, uint32_t i, struct sl_message *m)
{
	const struct sl_host_disk *disk = &sim->learners[i].host.disk;
	const struct sl_certificate *c = &disk->certificate;
	size_t bytes = sim->learners[i].host.config.model_bytes;
	if (c->t == 0 || disk->model == NULL ||
	    (m->kind == SL_MSG_DIGEST ? m->digest.t != c->t : m->chunk.t != c->t || m->chunk.index != 0))
		return false;
	if (m->kind == SL_MSG_RESULT) {
		((uint8_t *)m->chunk.bytes)[0] = disk->model[0] ^ 1;
		return true;
	}
	if (m->digest.id != sim->ids[i])
		return DROP; /* the signatures of others show the true result */
	uint8_t *model = malloc(bytes);
	memcpy(model, disk->model, bytes);
	model[0] ^= 1;
	sl_canonical_result(&sim->learners[i].host.config.scope, c->view, c->round->total, c->round->strands,
			    model, bytes, m->digest.digest);
	free(model);
	return true;
}

/* Write the commitment to the own deposit with 1 added to its first element to `hash`. Return false if the
 * Ready is of another view than the learner's. */
static bool commit_to_twin(const struct sl_sim *sim, uint32_t i, const struct sl_ready *ready, uint8_t *hash)
{
	struct sl_sim_attempt *page = sl_sim_check_find(sim, ready->view);
	const struct sl_workspace *w = &sim->learners[i].host.workspace;
	const struct sl_view *view = sim->learners[i].host.view;
	if (page == NULL || view == NULL || memcmp(view->h, ready->view, SL_HASH_BYTES) != 0 ||
	    w->state_file.base == NULL)
		return false;
	page->of[i].twin = page->of[i].altered = true;
	uint8_t *twin = malloc(sl_slot_state_bytes(view));
	memcpy(twin, sl_slot_state(&w->state_file, view->self), sl_slot_state_bytes(view));
	uint64_t first = sl_bytes_element(twin, 0, view->field.bits);
	packed_replace(twin, 0, view->field.bits, sl_field_add(&view->field, first, 1));
	sl_canonical_deposit(&w->scope, twin, sl_slot_state_bytes(view), NULL, hash);
	free(twin);
	return true;
}

static int lie_double(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (j % 2 == 0)
		return false;
	if (m->kind == SL_MSG_READY)
		return m->ready.id == sim->ids[i] && commit_to_twin(sim, i, &m->ready, m->ready.deposit);
	return m->chunk.origin == sim->ids[i] && m->chunk.index == 0 && add(sim, i, m, 1);
}

static bool own_link_state(const struct sl_sim *sim, uint32_t i, const struct sl_message *m)
{
	return m->link_state.id == sim->ids[i] && m->link_state.count > 0;
}

/* Send an Abort beside the Ready; one with both promises as one that has sent no Ready. */
static int abort_to(struct sl_sim *sim, uint32_t i, uint32_t j, const struct sl_ready *ready, uint32_t says,
		    sl_attempt a)
{
	struct sl_message m = {.kind = SL_MSG_ABORT};
	if (ready->id != sim->ids[i] || spared(sim, j))
		return false;
	m.abort = (struct sl_abort){.t = ready->t,
				    .a = a,
				    .id = sim->ids[i],
				    .says = says,
				    .incarnation = sim->learners[i].host.config.incarnation};
	memcpy(m.abort.key, sim->learners[i].host.config.key, SL_KEY_BYTES);
	if (says != SL_ABORT_PROMISES)
		sl_canonical_message(&sim->learners[i].host.config.scope,
				     &(struct sl_message){.kind = SL_MSG_READY, .ready = *ready},
				     m.abort.ready);
	sl_sim_sign(sim, &m);
	sl_sim_echo(sim, i, j, &m, 20);
	return true;
}

/* Add the first learner of the roster that is not among the candidates; there is room for one. */
static int lie_absent(const struct sl_sim *sim, uint32_t i, struct sl_message *m)
{
	sl_id *candidates = (sl_id *)m->link_state.candidates;
	uint32_t k = 0, at = 0;
	if (!own_link_state(sim, i, m))
		return false;
	while (k < sim->n && (k == i || (at < m->link_state.count && candidates[at] == sim->ids[k])))
		at += k++ != i;
	if (k == sim->n)
		return false;
	memmove(candidates + at + 1, candidates + at, (m->link_state.count - at) * sizeof *candidates);
	candidates[at] = sim->ids[k];
	m->link_state.count++;
	return true;
}

static int lie_have(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	uint8_t held[SL_LEARNERS_MAX / 8];
	const struct sl_sim_attempt *page = sl_sim_check_find(sim, m->chunk.view);
	if (m->kind == SL_MSG_DEPOSIT && m->chunk.origin != sim->ids[i])
		return DROP;
	if (page == NULL || !page->of[i].in || m->kind == SL_MSG_DEPOSIT || m->chunk.index != 0)
		return false;
	memset(held, 0xff, sizeof held);
	held[page->n / 8] = (uint8_t)((1u << page->n % 8) - 1);
	struct sl_message have = {.kind = SL_MSG_HAVE,
				  .have = {.t = m->chunk.t, .a = m->chunk.a, .held = held, .keys = held}};
	have.have.size = have.have.keys_size = (page->n + 7) / 8;
	memcpy(have.have.view, page->h, SL_HASH_BYTES);
	sl_sim_echo(sim, i, j, &have, 20);
	return true;
}

/* The early link state names all learners, as the own ones do in a complete graph: two different ones would
 * be evidence. */
static int lie_early(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	const struct sl_hosted *host = &sim->learners[i].host;
	const struct sl_certificate *last = &host->disk.certificate;
	sl_id candidates[SL_LEARNERS_MAX];
	struct sl_message early = {.kind = SL_MSG_LINK_STATE};
	struct sl_link_state *state = &early.link_state;
	if (m->kind == SL_MSG_LINK_STATE) {
		m->link_state.failed = m->link_state.id == sim->ids[i];
		return m->link_state.id == sim->ids[i];
	}
	if (m->hello.status != SL_PEER_STATUS_TRAINING || m->hello.a > 1)
		return false;
	*state = (struct sl_link_state){.id = sim->ids[i],
					.incarnation = host->config.incarnation,
					.t = m->hello.t,
					.a = 2,
					.roster_size = sim->n,
					.n = host->config.parameters.n,
					.model = host->config.parameters.model,
					.values = host->config.parameters.values,
					.initial = host->config.parameters.initial,
					.candidates = candidates};
	for (uint32_t k = 0; k < sim->n; k++)
		if (k != i)
			candidates[state->count++] = sim->ids[k];
	memcpy(state->key, host->config.key, sizeof state->key);
	memcpy(state->roster, host->config.scope.roster, sizeof state->roster);
	if (last->t > 0)
		memcpy(state->previous, last->digest, sizeof state->previous);
	state->failed = 1;
	sl_sim_sign(sim, &early);
	sl_sim_echo(sim, i, j, &early, 20);
	return true;
}

/* A lie that does `statement` to messages of `kinds` if it `applies`. */
#define LIE(name, kinds, applies, statement)                                                                 \
	enum { KINDS_##name = kinds };                                                                       \
	static int tell_##name(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)             \
	{                                                                                                    \
		(void)sim, (void)i, (void)j, (void)m;                                                        \
		if (!(applies))                                                                              \
			return false;                                                                        \
		statement;                                                                                   \
		return true;                                                                                 \
	}
#define OWN(id) ((id) == sim->ids[i])
#define FLIP(bytes) (((uint8_t *)(bytes))[0] ^= 1)
static const uint8_t unknown[SL_HASH_BYTES]; /* only a learner that holds all Readys says their hash */
#define KIND(name) (1u << SL_MSG_##name)

LIE(SHARE, KIND(SHARE), add(sim, i, m, sim->lies->differ ? j + 1 : 1), )
LIE(STATE, KIND(STATE), add(sim, i, m, sim->lies->differ ? j + 1 : 1), )
LIE(DEPOSIT, KIND(DEPOSIT), add(sim, i, m, sim->lies->differ ? j + 1 : 1), )
LIE(DIGEST, KIND(DIGEST), OWN(m->digest.id), FLIP(m->digest.digest))
LIE(COMMITMENT, KIND(READY), OWN(m->ready.id) && !spared(sim, j), FLIP(m->ready.deposit))
LIE(TWICE, KIND(LINK_STATE), j % 2 != 0 && own_link_state(sim, i, m), m->link_state.count--)
LIE(ABORT, KIND(READY), abort_to(sim, i, j, &m->ready, SL_ABORT_PROMISES, m->ready.a), )
LIE(ABORT_ALL, KIND(READY), abort_to(sim, i, j, &m->ready, SL_ABORT_PROMISES, SL_ATTEMPTS_MAX), )
LIE(GIVE_UP, KIND(READY), abort_to(sim, i, j, &m->ready, SL_ABORT_UNSIGNED, m->ready.a), )
LIE(KEY, KIND(KEY), true, FLIP(m->key.key))
LIE(READYS, KIND(KEY), j % 2 != 0 && memcmp(m->key.readys, unknown, sizeof unknown) != 0, FLIP(m->key.readys))
LIE(KEY_SHARE, KIND(KEY_SHARE), !spared(sim, j), FLIP(m->chunk.bytes))
LIE(OPENING, KIND(OPENING), true, FLIP(m->opening.share))
LIE(CHALLENGE, KIND(CHALLENGE), OWN(m->challenge.origin), FLIP(m->challenge.value))
LIE(CHECKSUM, KIND(CHECKSUM), OWN(m->checksums.id) && !spared(sim, j), FLIP(m->checksums.values))
LIE(JUMP, KIND(LINK_STATE), own_link_state(sim, i, m),
    m->link_state.a = m->link_state.a + 1000 < SL_ATTEMPTS_MAX ? m->link_state.a + 1000 : SL_ATTEMPTS_MAX)
LIE(MUTE, KIND(SHARE) | KIND(DEPOSIT) | KIND(STATE), !spared(sim, j), return DROP)
LIE(SLOW, KIND(SHARE) | KIND(DEPOSIT) | KIND(STATE), true, sl_sim_link(sim, i, j)->slow_ms = 9900)
LIE(ROUND, KIND(HELLO), m->hello.t < sim->options.parameters.rounds && m->hello.status != SL_PEER_STATUS_DONE,
    m->hello.t++)
/* About model and history: all learners hear the same. */
LIE(INITIAL, KIND(LINK_STATE), OWN(m->link_state.id), m->link_state.initial ^= 1)
LIE(HISTORY, KIND(LINK_STATE), OWN(m->link_state.id), FLIP(m->link_state.previous))
LIE(ROSTER, KIND(LINK_STATE), OWN(m->link_state.id), FLIP(m->link_state.roster))
LIE(RESULT, KIND(RESULT) | KIND(DIGEST), true, return lie_result(sim, i, m))
LIE(DOUBLE, KIND(READY) | KIND(DEPOSIT), true, return lie_double(sim, i, j, m))
LIE(ABSENT, KIND(LINK_STATE), true, return lie_absent(sim, i, m))
LIE(HAVE, KIND(STATE) | KIND(DEPOSIT), true, return lie_have(sim, i, j, m))
LIE(EARLY, KIND(HELLO) | KIND(LINK_STATE), true, return lie_early(sim, i, j, m))
LIE(KEEP, KIND(LINK_STATE) | KIND(READY) | KIND(DIGEST),
    *(const sl_id *)sl_message_role(m, SL_ROLE_SIGNER) != sim->ids[i], return DROP)
LIE(TOLD, KIND(HELLO), true, FLIP(m->hello.records))
LIE(MAGNITUDES, 0, false, ) /* see sl_sim_lies_encoded */

static const struct {
	uint32_t kinds;
	int (*tell)(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m);
} table[SL_SIM_LIE_COUNT] = {
#define X(name, ...) [SL_SIM_LIE_##name] = {KINDS_##name, tell_##name},
	SL_SIM_LIES(X)
#undef X
};

/* --- messages on their way --- */

static sl_round round_of(const struct sl_message *m)
{
	switch (m->kind) {
	case SL_MSG_HELLO:
		return m->hello.t;
	case SL_MSG_LINK_STATE:
		return m->link_state.t;
	case SL_MSG_READY:
		return m->ready.t;
	case SL_MSG_DIGEST:
		return m->digest.t;
	case SL_MSG_KEY:
		return m->key.t;
	case SL_MSG_OPENING:
		return m->opening.t;
	case SL_MSG_CHALLENGE:
		return m->challenge.t;
	case SL_MSG_CHECKSUM:
		return m->checksums.t;
	default:
		return m->kind >= SL_MSG_SHARE ? m->chunk.t : 0;
	}
}

/* A liar lies in whole rounds: the same to all, or another lie to each. */
static bool lies_in(const struct sl_sim_lies *l, sl_round t)
{
	return (t * UINT64_C(0x9e3779b9) >> 8) % l->rarity == 0;
}

void sl_sim_lies_encoded(struct sl_sim *sim, uint32_t i, const struct sl_view *view)
{
	struct sl_sim_lies *l = sim->lies;
	struct sl_ranges *ranges = &sim->learners[i].host.workspace.ranges;
	struct sl_sim_attempt *page = sl_sim_check_find(sim, view->h);
	if (l == NULL || page == NULL || page->of[i].ready)
		return;
	page->of[i].lied = (sl_sim_lies_of(l, i) >> SL_SIM_LIE_MAGNITUDES & 1) != 0 && ranges->count > 0 &&
			   lies_in(l, view->t);
	if (!page->of[i].lied)
		return;
	page->of[i].magnitude = l->differ ? 1 : SL_MAGNITUDES - 1;
	memset(ranges->own, page->of[i].magnitude, ranges->count);
	l->told[SL_SIM_LIE_MAGNITUDES]++;
	sl_sim_tell(sim, i, "LIES about magnitudes");
}

static bool tell_lies(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	struct sl_sim_lies *l = sim->lies;
	for (uint32_t k = 0; k < SL_SIM_LIE_COUNT; k++) {
		if ((sl_sim_lies_of(l, i) >> k & 1) == 0 || (table[k].kinds >> m->kind & 1) == 0)
			continue;
		int told = table[k].tell(sim, i, j, m);
		if (told == 0)
			continue;
		l->told[k]++;
		sl_sim_tell(sim, i, "LIES to %u: %s%s", sim->ids[j], names[k],
			    told == DROP ? ", not sent" : "");
		if (told == DROP)
			return false;
		if (m->kind == SL_MSG_LINK_STATE || table[k].tell == tell_COMMITMENT ||
		    table[k].tell == tell_DOUBLE || m->kind == SL_MSG_DIGEST || m->kind == SL_MSG_CHECKSUM)
			sl_sim_sign(sim, m);
	}
	return true;
}

static void record(struct sl_sim_lies *l, const struct sl_message *m)
{
	if (m->kind != SL_MSG_LINK_STATE && m->kind != SL_MSG_READY && m->kind != SL_MSG_ABORT)
		return;
	struct sl_packet **at = &l->records[l->recorded++ % SL_SIM_REPLAYED];
	sl_packet_drop(*at);
	*at = sl_packet_copy(m);
}

bool sl_sim_lies_change(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	struct sl_sim_lies *l = sim->lies;
	if (l->flips == i &&
	    (m->kind == SL_MSG_SHARE || m->kind == SL_MSG_STATE || m->kind == SL_MSG_DEPOSIT) &&
	    flip(sim, i, m)) {
		sl_sim_tell(sim, i, "FAULT a bit flipped on its way to %u", sim->ids[j]);
		l->flips = SL_NOBODY;
	}
	if (sl_sim_lies_of(l, i) != 0 && lies_in(l, round_of(m)) && !tell_lies(sim, i, j, m))
		return false;
	if (l->recording && below(l, 8) == 0)
		record(l, m);
	return true;
}

void sl_sim_lies_replay(struct sl_sim *sim)
{
	struct sl_sim_lies *l = sim->lies;
	uint32_t kept = l->recorded < SL_SIM_REPLAYED ? l->recorded : SL_SIM_REPLAYED;
	uint32_t i = (uint32_t)below(l, sim->n), j = (uint32_t)below(l, sim->n);
	if (kept == 0 || i == j || !sl_sim_link(sim, i, j)->up)
		return;
	const struct sl_message *m = &l->records[below(l, kept)]->message;
	sl_sim_tell(sim, i, "FAULT passes a record on to %u again", sim->ids[j]);
	sl_sim_echo(sim, i, j, m, 20000);
}

void sl_sim_lies_free(struct sl_sim_lies *l)
{
	for (uint32_t k = 0; k < SL_SIM_REPLAYED; k++) {
		sl_packet_drop(l->records[k]);
		l->records[k] = NULL;
	}
}
