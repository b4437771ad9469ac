#include "common/protocol/canonical.h"

#include <sodium.h>

#include "common/base/bytes.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are hashed as they are in memory");

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

static void feed_list(struct hasher *v, const uint32_t *items, uint32_t count)
{
	feed_u64(v, count);
	for (uint32_t i = 0; i < count; i++)
		feed_u64(v, items[i]);
}

static void feed_field(struct hasher *v, const struct sl_message_field *f, const uint8_t *body)
{
	const uint8_t *at = body + f->offset;
	const uint32_t *count = (const uint32_t *)(body + f->count_offset);
	switch (f->form) {
	case SL_FORM_U32:
		feed_u64(v, *(const uint32_t *)at);
		break;
	case SL_FORM_U64:
	case SL_FORM_BYTES:
	case SL_FORM_PARAMETERS:
		feed(v, at, f->size);
		break;
	case SL_FORM_LIST:
		feed_list(v, *(const uint32_t *const *)at, *count);
		break;
	case SL_FORM_ARRAY:
		feed_list(v, (const uint32_t *)at, *count);
		break;
	case SL_FORM_SPAN:
		assert(false && "a signed message has no bytes of variable length");
	}
}

bool sl_canonical_message(const struct sl_scope *scope, const struct sl_message *message,
			  uint8_t hash[static SL_HASH_BYTES])
{
	const struct sl_message_type *type = sl_message_type(message->kind);
	const uint8_t *body = sl_message_body(message), *roster = sl_message_role(message, SL_ROLE_ROSTER);
	struct sl_scope signers = *scope;
	struct hasher v;
	if (type == NULL || type->domain == NULL)
		return false;
	if (roster != NULL)
		memcpy(signers.roster, roster, sizeof signers.roster);
	begin(&v, type->domain, &signers);
	for (const struct sl_message_field *f = type->fields; f < type->fields + type->count; f++)
		if (f->role != SL_ROLE_ROSTER && f->role != SL_ROLE_SIGNATURE)
			feed_field(&v, f, body);
	finish(&v, hash);
	return true;
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
	begin_run(&v, "starling result 3", scope); /* h contains the roster: the result outlives it */
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
	begin(&v, "starling view 3", scope);
	feed(&v, bytes, size);
	finish(&v, hash);
}
