#include "common/core/canon.h"

#include <sodium.h>

#include "common/base/bytes.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "vectors are hashed as they lie in memory");
static_assert(sizeof(crypto_generichash_state) <= sizeof(struct sl_canon_view), "the state fits");

static crypto_generichash_state *state_of(struct sl_canon_view *v)
{
	return (crypto_generichash_state *)(void *)v->state;
}

static void feed(struct sl_canon_view *v, const void *bytes, size_t n)
{
	crypto_generichash_update(state_of(v), bytes, n);
}

static void feed_u64(struct sl_canon_view *v, uint64_t x)
{
	feed(v, &x, sizeof x);
}

static void begin(struct sl_canon_view *v, const char *domain, const struct sl_scope *scope)
{
	crypto_generichash_init(state_of(v), NULL, 0, SL_HASH_BYTES);
	feed(v, domain, strlen(domain) + 1);
	feed(v, scope->run, sizeof scope->run);
	feed(v, scope->roster, sizeof scope->roster);
}

static void finish(struct sl_canon_view *v, uint8_t *hash)
{
	crypto_generichash_final(state_of(v), hash, SL_HASH_BYTES);
	sodium_memzero(v, sizeof *v);
}

static void feed_parameters(struct sl_canon_view *v, const struct sl_parameters *p)
{
#define X(name, rule) feed_u64(v, p->name);
	SL_PARAMETERS(X)
#undef X
}

void sl_canon_link_state(const struct sl_scope *scope, const struct sl_link_state *ls, uint8_t hash[static SL_HASH_BYTES])
{
	struct sl_canon_view v;
	struct sl_scope signers = *scope;
	memcpy(signers.roster, ls->roster, sizeof signers.roster);
	begin(&v, "starling link state 1", &signers);
	feed_u64(&v, ls->t);
	feed_u64(&v, ls->a);
	feed_u64(&v, ls->incarnation);
	feed_u64(&v, ls->id);
	feed(&v, ls->key, sizeof ls->key);
	feed_u64(&v, ls->roster_size);
	feed_parameters(&v, &ls->parameters);
	feed(&v, ls->previous, sizeof ls->previous);
	feed_u64(&v, ls->count);
	for (uint32_t i = 0; i < ls->count; i++)
		feed_u64(&v, ls->candidates[i]);
	finish(&v, hash);
}

void sl_canon_ready(const struct sl_scope *scope, const struct sl_ready *ready, uint8_t hash[static SL_HASH_BYTES])
{
	struct sl_canon_view v;
	begin(&v, "starling ready 1", scope);
	feed_u64(&v, ready->t);
	feed_u64(&v, ready->a);
	feed_u64(&v, ready->id);
	feed(&v, ready->view, sizeof ready->view);
	feed_u64(&v, ready->k);
	feed(&v, ready->commitment, sizeof ready->commitment);
	finish(&v, hash);
}

void sl_canon_digest(const struct sl_scope *scope, const struct sl_digest *digest, uint8_t hash[static SL_HASH_BYTES])
{
	struct sl_canon_view v;
	begin(&v, "starling digest 1", scope);
	feed_u64(&v, digest->t);
	feed_u64(&v, digest->a);
	feed_u64(&v, digest->id);
	feed(&v, digest->key, sizeof digest->key);
	feed_u64(&v, digest->p);
	feed_u64(&v, digest->learners);
	feed(&v, digest->view, sizeof digest->view);
	feed(&v, digest->digest, sizeof digest->digest);
	finish(&v, hash);
}

void sl_canon_commitment(const struct sl_scope *scope, const uint64_t *s, size_t count,
			 const uint8_t nonce[static SL_NONCE_BYTES], uint8_t hash[static SL_HASH_BYTES])
{
	struct sl_canon_view v;
	begin(&v, "starling masked state 1", scope);
	feed_u64(&v, count);
	feed(&v, s, count * sizeof *s);
	feed(&v, nonce, SL_NONCE_BYTES);
	finish(&v, hash);
}

void sl_canon_result(const struct sl_scope *scope, const uint8_t view[static SL_HASH_BYTES], const uint64_t *z,
		     size_t count, uint8_t hash[static SL_HASH_BYTES])
{
	struct sl_canon_view v;
	begin(&v, "starling result 1", scope);
	feed(&v, view, SL_HASH_BYTES);
	feed_u64(&v, count);
	feed(&v, z, count * sizeof *z);
	finish(&v, hash);
}

void sl_canon_view_open(struct sl_canon_view *v, const struct sl_scope *scope, sl_round t, sl_attempt a, uint64_t p,
			const struct sl_parameters *parameters, const uint8_t previous[static SL_HASH_BYTES], uint32_t n)
{
	begin(v, "starling view 1", scope);
	feed_u64(v, t);
	feed_u64(v, a);
	feed_u64(v, p);
	feed_parameters(v, parameters);
	feed(v, previous, SL_HASH_BYTES);
	feed_u64(v, n);
}

void sl_canon_view_member(struct sl_canon_view *v, sl_id id, uint32_t incarnation)
{
	feed_u64(v, id);
	feed_u64(v, incarnation);
}

void sl_canon_view_edge(struct sl_canon_view *v, sl_id a, sl_id b)
{
	feed_u64(v, a);
	feed_u64(v, b);
}

void sl_canon_view_close(struct sl_canon_view *v, uint8_t hash[static SL_HASH_BYTES])
{
	finish(v, hash);
}
