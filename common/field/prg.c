#include "common/field/prg.h"

#include <assert.h>
#include <sodium.h>
#include <stddef.h>
#include <string.h>

#include "common/field/kernels/table.h"

#define CHACHA_BLOCK_BYTES 64u
#define FIRST_BYTES 256u /* of the first filling: short streams need no more */

static_assert((sizeof((struct sl_prg *)0)->buffer - SL_PRG_CARRY) % CHACHA_BLOCK_BYTES == 0,
	      "refills take whole blocks");
static_assert(SL_KEY_BYTES == crypto_stream_chacha20_KEYBYTES, "a key of the stream is a ChaCha20 key");

void sl_prg_open(struct sl_prg *prg, const uint8_t key[static SL_KEY_BYTES])
{
	sl_prg_open_at(prg, key, 0);
}

void sl_prg_open_at(struct sl_prg *prg, const uint8_t key[static SL_KEY_BYTES], uint64_t nonce)
{
	memset(prg, 0, offsetof(struct sl_prg, buffer));
	memcpy(prg->key, key, sizeof prg->key);
	prg->nonce = nonce;
	prg->next = sizeof prg->buffer;
}

void sl_prg_open_source(struct sl_prg *prg, sl_prg_source source, void *context)
{
	memset(prg, 0, offsetof(struct sl_prg, buffer));
	prg->source = source;
	prg->context = context;
	prg->next = sizeof prg->buffer;
}

/* Fill the end of the buffer, after the rest of the last filling, which is shorter than a candidate; `wanted`
 * bytes are. */
static void refill(struct sl_prg *prg, size_t wanted)
{
	size_t rest = sizeof prg->buffer - prg->next, all = sizeof prg->buffer - SL_PRG_CARRY;
	size_t bytes = prg->filled == 0 && wanted < all ? FIRST_BYTES : all;
	uint8_t *fresh = prg->buffer + sizeof prg->buffer - bytes;
	memcpy(fresh - rest, prg->buffer + prg->next, rest);
	prg->next = (size_t)(fresh - rest - prg->buffer);
	prg->filled = bytes;
	if (prg->source != NULL) {
		prg->source(prg->context, fresh, bytes);
		return;
	}
	sl_kernels()->stream(prg->key, prg->nonce, prg->block, fresh, bytes / CHACHA_BLOCK_BYTES);
	prg->block += bytes / CHACHA_BLOCK_BYTES;
}

static void draw(struct sl_prg *prg, const struct sl_field *field, uint64_t *out, size_t count,
		 enum sl_draw how)
{
	for (size_t done = 0; done < count;) {
		if (sizeof prg->buffer - prg->next < field->draw_bytes)
			refill(prg, (count - done) * field->draw_bytes);
		size_t held = (sizeof prg->buffer - prg->next) / field->draw_bytes;
		size_t n = held < count - done ? held : count - done; /* at most as many as can be accepted */
		done += sl_kernels()->sift(field, prg->buffer + prg->next, n, out + done, how);
		prg->next += n * field->draw_bytes;
	}
}

void sl_prg_fill(struct sl_prg *prg, const struct sl_field *field, uint64_t *out, size_t count)
{
	draw(prg, field, out, count, SL_DRAW);
}

void sl_prg_add(struct sl_prg *prg, const struct sl_field *field, uint64_t *s, size_t count)
{
	draw(prg, field, s, count, SL_DRAW_ADD);
}

void sl_prg_subtract(struct sl_prg *prg, const struct sl_field *field, uint64_t *s, size_t count)
{
	draw(prg, field, s, count, SL_DRAW_SUBTRACT);
}

void sl_prg_close(struct sl_prg *prg)
{
	size_t used = prg->filled + SL_PRG_CARRY;
	sodium_memzero(prg->buffer + sizeof prg->buffer - used, used);
	sodium_memzero(prg, offsetof(struct sl_prg, buffer));
	prg->next = sizeof prg->buffer;
}
