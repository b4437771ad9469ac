#include "common/protocol/canonical.h"

#include <sodium.h>

#include "common/base/bytes.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "vectors are hashed as they lie in memory");

#define BLOCK 1024u

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

static void begin(struct hasher *v, const char *domain, const struct sl_scope *scope)
{
	crypto_generichash_init(&v->state, NULL, 0, SL_HASH_BYTES);
	feed(v, domain, strlen(domain) + 1);
	feed(v, scope->run, sizeof scope->run);
	feed(v, scope->roster, sizeof scope->roster);
}

static void finish(struct hasher *v, uint8_t *hash)
{
	crypto_generichash_final(&v->state, hash, SL_HASH_BYTES);
	sodium_memzero(v, sizeof *v);
}

static void feed_parameters(struct hasher *v, const struct sl_parameters *p)
{
#define X(name, rule) feed_u64(v, p->name);
	SL_PARAMETERS(X)
#undef X
}

void sl_canonical_link_state(const struct sl_scope *scope, const struct sl_link_state *ls,
			     uint8_t hash[static SL_HASH_BYTES])
{
	struct hasher v;
	struct sl_scope signers = *scope;
	memcpy(signers.roster, ls->roster, sizeof signers.roster);
	begin(&v, "starling link state 2", &signers);
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

void sl_canonical_ready(const struct sl_scope *scope, const struct sl_ready *ready,
			uint8_t hash[static SL_HASH_BYTES])
{
	struct hasher v;
	begin(&v, "starling ready 1", scope);
	feed_u64(&v, ready->t);
	feed_u64(&v, ready->a);
	feed_u64(&v, ready->id);
	feed(&v, ready->view, sizeof ready->view);
	feed_u64(&v, ready->k);
	feed(&v, ready->commitment, sizeof ready->commitment);
	finish(&v, hash);
}

void sl_canonical_digest(const struct sl_scope *scope, const struct sl_digest *digest,
			 uint8_t hash[static SL_HASH_BYTES])
{
	struct hasher v;
	begin(&v, "starling digest 2", scope);
	feed_u64(&v, digest->t);
	feed_u64(&v, digest->a);
	feed_u64(&v, digest->id);
	feed(&v, digest->key, sizeof digest->key);
	feed_u64(&v, digest->p);
	feed_u64(&v, digest->learners);
	feed_u64(&v, digest->decimals);
	feed_u64(&v, digest->encoding);
	feed_u64(&v, digest->clipping_range);
	feed(&v, digest->view, sizeof digest->view);
	feed(&v, digest->digest, sizeof digest->digest);
	finish(&v, hash);
}

void sl_canonical_abort(const struct sl_scope *scope, const struct sl_abort *abort_record,
			uint8_t hash[static SL_HASH_BYTES])
{
	struct hasher v;
	begin(&v, "starling fence 1", scope);
	feed_u64(&v, abort_record->t);
	feed_u64(&v, abort_record->a);
	feed_u64(&v, abort_record->incarnation);
	feed_u64(&v, abort_record->id);
	feed(&v, abort_record->key, sizeof abort_record->key);
	feed_u64(&v, abort_record->closed);
	feed_u64(&v, abort_record->count);
	for (uint32_t i = 0; i < abort_record->count; i++)
		feed_u64(&v, abort_record->released[i]);
	finish(&v, hash);
}

void sl_canonical_commitment(const struct sl_scope *scope, const uint8_t *state, size_t bytes,
			     const uint8_t nonce[static SL_NONCE_BYTES], uint8_t hash[static SL_HASH_BYTES])
{
	struct hasher v;
	begin(&v, "starling masked state 2", scope);
	feed_u64(&v, bytes);
	feed(&v, state, bytes);
	feed(&v, nonce, SL_NONCE_BYTES);
	finish(&v, hash);
}

void sl_canonical_result(const struct sl_scope *scope, const uint8_t view[static SL_HASH_BYTES],
			 const uint64_t *z, size_t count, uint32_t width, uint8_t hash[static SL_HASH_BYTES])
{
	struct hasher v;
	uint8_t packed[BLOCK * sizeof *z];
	begin(&v, "starling result 2", scope);
	feed(&v, view, SL_HASH_BYTES);
	feed_u64(&v, count);
	for (size_t at = 0; at < count; at += BLOCK) {
		size_t n = count - at < BLOCK ? count - at : BLOCK;
		sl_bytes_pack(packed, z + at, n, width);
		feed(&v, packed, n * width);
	}
	finish(&v, hash);
}

void sl_canonical_view(const struct sl_scope *scope, const uint8_t *bytes, size_t size,
		       uint8_t hash[static SL_HASH_BYTES])
{
	struct hasher v;
	begin(&v, "starling view 2", scope);
	feed(&v, bytes, size);
	finish(&v, hash);
}
