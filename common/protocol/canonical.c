#include "common/protocol/canonical.h"

#include <sodium.h>

#include "common/base/bytes.h"
#include "common/field/vector_hash.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are hashed as they are in memory");

#define PIECE (256u << 10) /* bytes of a deposit at a time */

struct hasher {
	crypto_generichash_state state;
};

static void feed(struct hasher *v, const void *bytes, size_t n)
{
	crypto_generichash_update(&v->state, bytes, n);
}

static void feed_u64(struct hasher *v, uint64_t x)
{
	feed(v, &x, sizeof x);
}

static void begin_run(struct hasher *v, const char *domain, const struct sl_scope *scope)
{
	crypto_generichash_init(&v->state, NULL, 0, SL_HASH_BYTES);
	feed(v, domain, strlen(domain) + 1);
	feed(v, scope->run, sizeof scope->run);
}

static void begin(struct hasher *v, const char *domain, const struct sl_scope *scope)
{
	begin_run(v, domain, scope);
	feed(v, scope->roster, sizeof scope->roster);
}

static void finish(struct hasher *v, uint8_t *hash)
{
	crypto_generichash_final(&v->state, hash, SL_HASH_BYTES);
	sodium_memzero(v, sizeof *v);
}

void sl_canonical_run(const char *name, uint8_t run[static SL_RUN_BYTES])
{
	crypto_generichash(run, SL_RUN_BYTES, (const uint8_t *)name, strlen(name), NULL, 0);
}

static void feed_list(struct hasher *v, const uint32_t *items, uint32_t count)
{
	feed_u64(v, count);
	for (uint32_t i = 0; i < count; i++)
		feed_u64(v, items[i]);
}

static void feed_span(struct hasher *v, const uint8_t *bytes, size_t size)
{
	feed_u64(v, size);
	feed(v, bytes, size);
}

/* End the hash of a vector, and feed the hashes of its strands. */
static void feed_vector(struct hasher *v, struct sl_vector_hash *vector)
{
	uint8_t hashes[SL_STRANDS_BYTES];
	sl_vector_hash_end(vector, hashes);
	feed(v, hashes, sizeof hashes);
}

static void feed_field(struct hasher *v, const struct sl_message_field *f, const uint8_t *body)
{
	const uint8_t *at = body + f->offset;
	switch (f->form) {
	case SL_FORM_U32:
		feed_u64(v, *(const uint32_t *)at);
		break;
	case SL_FORM_U64:
	case SL_FORM_BYTES:
		feed(v, at, f->size);
		break;
	case SL_FORM_LIST:
		feed_list(v, *(const uint32_t *const *)at, *(const uint32_t *)(body + f->count_offset));
		break;
	case SL_FORM_SPAN:
		feed_span(v, *(const uint8_t *const *)at, *(const size_t *)(body + f->count_offset));
	}
}

bool sl_canonical_message(const struct sl_scope *scope, const struct sl_message *message,
			  uint8_t hash[static SL_HASH_BYTES])
{
	const struct sl_message_type *type = sl_message_type(message->kind);
	const uint8_t *body = sl_message_body(message), *roster = sl_message_role(message, SL_ROLE_ROSTER);
	struct hasher v;
	if (type == NULL || type->domain == NULL)
		return false;
	begin_run(&v, type->domain, scope); /* records outlive a roster: `view` names it, or nothing has to */
	if (roster != NULL)
		feed(&v, roster, SL_HASH_BYTES);
	for (const struct sl_message_field *f = type->fields; f < type->fields + type->count; f++)
		if (f->role != SL_ROLE_ROSTER && f->role != SL_ROLE_SIGNATURE)
			feed_field(&v, f, body);
	finish(&v, hash);
	return true;
}

void sl_canonical_deposit(const struct sl_scope *scope, const uint8_t *deposit, size_t bytes,
			  void (*used)(const uint8_t *bytes, size_t size), uint8_t hash[static SL_HASH_BYTES])
{
	struct hasher v;
	struct sl_vector_hash vector;
	sl_vector_hash_begin(&vector);
	for (size_t at = 0; at < bytes; at += PIECE) {
		size_t n = bytes - at < PIECE ? bytes - at : PIECE;
		sl_vector_hash_add(&vector, deposit + at, n);
		if (used != NULL)
			used(deposit + at, n);
	}
	begin(&v, "starling deposit 4", scope);
	feed_u64(&v, bytes);
	feed_vector(&v, &vector);
	finish(&v, hash);
}

static void of_learner(const struct sl_scope *scope, const char *domain, sl_id id, const uint8_t *value,
		       uint8_t *hash)
{
	struct hasher v;
	begin(&v, domain, scope);
	feed_u64(&v, id);
	feed(&v, value, SL_KEY_BYTES);
	finish(&v, hash);
}

void sl_canonical_key(const struct sl_scope *scope, sl_id id, const uint8_t key[static SL_KEY_BYTES],
		      uint8_t hash[static SL_HASH_BYTES])
{
	of_learner(scope, "starling deposit key 1", id, key, hash);
}

void sl_canonical_challenge(const struct sl_scope *scope, sl_id id, const uint8_t value[static SL_KEY_BYTES],
			    uint8_t hash[static SL_HASH_BYTES])
{
	of_learner(scope, "starling challenge 1", id, value, hash);
}

void sl_canonical_share_leaf(const struct sl_scope *scope, sl_round t, sl_attempt a, sl_id owner,
			     sl_id holder, const uint8_t share[static SL_KEY_SHARE_BYTES],
			     uint8_t hash[static SL_HASH_BYTES])
{
	struct hasher v;
	begin(&v, "starling key share 1", scope);
	feed_u64(&v, t);
	feed_u64(&v, a);
	feed_u64(&v, owner);
	feed_u64(&v, holder);
	feed(&v, share, SL_KEY_SHARE_BYTES);
	finish(&v, hash);
}

void sl_canonical_share_node(const struct sl_scope *scope, const uint8_t left[static SL_HASH_BYTES],
			     const uint8_t right[static SL_HASH_BYTES], uint8_t hash[static SL_HASH_BYTES])
{
	struct hasher v;
	begin(&v, "starling key node 1", scope);
	feed(&v, left, SL_HASH_BYTES);
	feed(&v, right, SL_HASH_BYTES);
	finish(&v, hash);
}

void sl_canonical_readys(const struct sl_scope *scope, const uint8_t view[static SL_HASH_BYTES],
			 const struct sl_ready *readys, uint32_t n, uint8_t hash[static SL_HASH_BYTES])
{
	struct hasher v;
	uint8_t one[SL_HASH_BYTES];
	begin(&v, "starling readys 1", scope);
	feed(&v, view, SL_HASH_BYTES);
	for (uint32_t i = 0; i < n; i++) {
		sl_canonical_message(scope, &(struct sl_message){SL_MSG_READY, {.ready = readys[i]}}, one);
		feed(&v, one, sizeof one);
	}
	finish(&v, hash);
}

void sl_canonical_points(const struct sl_scope *scope, const uint8_t view[static SL_HASH_BYTES],
			 const uint8_t (*challenges)[SL_KEY_BYTES], uint32_t n,
			 uint8_t hash[static SL_HASH_BYTES])
{
	struct hasher v;
	begin(&v, "starling points 2", scope);
	feed(&v, view, SL_HASH_BYTES);
	feed(&v, challenges, (size_t)n * sizeof *challenges);
	finish(&v, hash);
}

void sl_canonical_strands(const void *vector, size_t bytes, uint8_t strands[static SL_STRANDS_BYTES])
{
	struct sl_vector_hash hash;
	sl_vector_hash_begin(&hash);
	sl_vector_hash_add(&hash, vector, bytes);
	sl_vector_hash_end(&hash, strands);
}

void sl_canonical_result_of(const struct sl_scope *scope, const uint8_t view[static SL_HASH_BYTES],
			    uint64_t total, const uint8_t strands[static SL_STRANDS_BYTES],
			    const uint8_t model[static SL_STRANDS_BYTES], size_t bytes,
			    uint8_t hash[static SL_HASH_BYTES])
{
	struct hasher v;
	begin_run(&v, "starling result 7", scope); /* h contains the roster: the result outlives it */
	feed(&v, view, SL_HASH_BYTES);
	feed_u64(&v, total);
	feed(&v, strands, SL_STRANDS_BYTES);
	feed_u64(&v, bytes);
	feed(&v, model, SL_STRANDS_BYTES);
	finish(&v, hash);
}

void sl_canonical_result(const struct sl_scope *scope, const uint8_t view[static SL_HASH_BYTES],
			 uint64_t total, const uint8_t strands[static SL_STRANDS_BYTES], const void *model,
			 size_t bytes, uint8_t hash[static SL_HASH_BYTES])
{
	uint8_t of_model[SL_STRANDS_BYTES];
	sl_canonical_strands(model, bytes, of_model);
	sl_canonical_result_of(scope, view, total, strands, of_model, bytes, hash);
}

uint64_t sl_canonical_initial(const struct sl_scope *scope, const void *model, size_t bytes)
{
	struct hasher v;
	struct sl_vector_hash vector;
	uint8_t hash[SL_HASH_BYTES];
	uint64_t number;
	sl_vector_hash_begin(&vector);
	sl_vector_hash_add(&vector, model, bytes);
	begin_run(&v, "starling initial 1", scope); /* the roster may change before the first commit */
	feed_u64(&v, bytes);
	feed_vector(&v, &vector);
	finish(&v, hash);
	sl_bytes_unpack(&number, hash, 1, 64);
	return number != 0 ? number : 1;
}

void sl_canonical_edges(const struct sl_scope *scope, const uint8_t *edges, size_t size,
			uint8_t hash[static SL_HASH_BYTES])
{
	struct hasher v;
	begin(&v, "starling edges 1", scope);
	feed(&v, edges, size);
	finish(&v, hash);
}

static void hash_members(const struct sl_scope *scope, const struct sl_round_head *round, uint8_t *hash)
{
	struct hasher v;
	begin(&v, "starling members 1", scope);
	for (uint32_t i = 0; i < round->count; i++)
		feed_u64(&v, round->members[i]);
	finish(&v, hash);
}

void sl_canonical_round(const struct sl_scope *scope, const struct sl_round_head *round,
			uint8_t hash[static SL_HASH_BYTES])
{
	struct sl_scope participants = *scope;
	uint8_t members[SL_HASH_BYTES];
	struct hasher v;
	memcpy(participants.roster, round->roster, sizeof participants.roster);
	hash_members(&participants, round, members);
	begin(&v, "starling view 8", &participants);
	feed_u64(&v, round->t);
	feed_u64(&v, round->a);
	feed_u64(&v, round->p);
#define X(name) feed_u64(&v, round->name);
	SL_VIEW_NUMBERS(X)
#undef X
	feed(&v, round->previous, sizeof round->previous);
	feed_u64(&v, sl_round_learners(round));
	feed(&v, members, sizeof members);
	feed(&v, round->edges, sizeof round->edges);
	finish(&v, hash);
}
