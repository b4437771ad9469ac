#include "daemon/store/secret_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"

static void put_secrets(struct sl_writer *writer, const struct sl_secrets *secrets)
{
	sl_bytes_put(writer, secrets->key, SL_KEY_BYTES);
	sl_bytes_put(writer, secrets->challenge, SL_KEY_BYTES);
	sl_bytes_put(writer, secrets->root, SL_HASH_BYTES);
	sl_bytes_put_u32(writer, secrets->count);
	for (uint32_t r = 0; r < secrets->count; r++) {
		sl_bytes_put_u32(writer, secrets->shares[r].size);
		sl_bytes_put(writer, secrets->shares[r].bytes, secrets->shares[r].size);
	}
}

uint8_t *sl_secret_bytes_pack(const struct sl_secrets *secrets, size_t *size)
{
	struct sl_writer writer = {.bytes = NULL};
	put_secrets(&writer, secrets); /* counts */
	writer = (struct sl_writer){.bytes = malloc(writer.used), .size = writer.used};
	if (writer.bytes != NULL)
		put_secrets(&writer, secrets);
	*size = writer.size;
	return writer.bytes;
}

bool sl_secret_bytes_valid(const uint8_t *bytes, size_t size)
{
	if (bytes == NULL || size < SL_SECRET_BYTES_HEAD)
		return false;
	size_t at = SL_SECRET_BYTES_HEAD;
	uint32_t count = sl_bytes_get_u32(bytes + at - 4);
	for (uint32_t r = 0; r < count; r++) {
		if (size - at < 4 || sl_bytes_get_u32(bytes + at) > SL_KEY_SHARE_BYTES_MAX ||
		    size - at - 4 < sl_bytes_get_u32(bytes + at))
			return false;
		at += 4 + sl_bytes_get_u32(bytes + at);
	}
	return at == size && count < SL_LEARNERS_MAX;
}

int sl_secret_bytes_unpack(const uint8_t *bytes, struct sl_secrets *secrets)
{
	const uint8_t *at = bytes + SL_SECRET_BYTES_HEAD;
	memcpy(secrets->key, bytes, SL_KEY_BYTES);
	memcpy(secrets->challenge, bytes + SL_KEY_BYTES, SL_KEY_BYTES);
	memcpy(secrets->root, bytes + 2 * SL_KEY_BYTES, SL_HASH_BYTES);
	secrets->count = sl_bytes_get_u32(at - 4);
	secrets->shares = calloc(secrets->count + 1, sizeof *secrets->shares);
	if (secrets->shares == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t r = 0; r < secrets->count; r++) {
		struct sl_held_share *share = &secrets->shares[r];
		share->size = sl_bytes_get_u32(at);
		memcpy(share->bytes, at + 4, share->size);
		at += 4 + share->size;
	}
	return SL_OK;
}
