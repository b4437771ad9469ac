#include "common/field/prg.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "common/field/kernels/table.h"

#define CHACHA_BLOCK_BYTES 64u
#define BLOCK 256u /* elements drawn at a time to be added */

static_assert((sizeof((struct sl_coins *)0)->buffer - SL_COINS_CARRY) % CHACHA_BLOCK_BYTES == 0,
	      "refills take whole blocks");
static_assert(SL_KEY_BYTES == crypto_stream_chacha20_KEYBYTES, "a key of the stream is a ChaCha20 key");

void sl_coins_open(struct sl_coins *coins, const uint8_t key[static SL_KEY_BYTES])
{
	memset(coins, 0, sizeof *coins);
	memcpy(coins->key, key, sizeof coins->key);
	coins->next = sizeof coins->buffer;
}

void sl_coins_open_source(struct sl_coins *coins, sl_coin_source source, void *context)
{
	memset(coins, 0, sizeof *coins);
	coins->source = source;
	coins->context = context;
	coins->next = sizeof coins->buffer;
}

/* Fill the buffer, after the rest of the last filling, which is shorter than a candidate. */
static void refill(struct sl_coins *coins)
{
	uint8_t *fresh = coins->buffer + SL_COINS_CARRY;
	size_t rest = sizeof coins->buffer - coins->next, bytes = sizeof coins->buffer - SL_COINS_CARRY;
	memcpy(fresh - rest, coins->buffer + coins->next, rest);
	coins->next = SL_COINS_CARRY - rest;
	if (coins->source != NULL) {
		coins->source(coins->context, fresh, bytes);
		return;
	}
	sl_kernels()->stream(coins->key, coins->block, fresh, bytes / CHACHA_BLOCK_BYTES);
	coins->block += bytes / CHACHA_BLOCK_BYTES;
}

void sl_coins_draw(struct sl_coins *coins, const struct sl_field *field, uint64_t *out, size_t count)
{
	for (size_t done = 0; done < count;) {
		if (sizeof coins->buffer - coins->next < field->bytes)
			refill(coins);
		size_t held = (sizeof coins->buffer - coins->next) / field->bytes;
		size_t n = held < count - done ? held : count - done; /* at most as many as can be accepted */
		done += sl_kernels()->sift(field, coins->buffer + coins->next, n, out + done);
		coins->next += n * field->bytes;
	}
}

static void draw_into(struct sl_coins *coins, const struct sl_field *field, uint64_t *s, size_t count, bool subtract)
{
	uint64_t coin[BLOCK];
	for (size_t at = 0; at < count; at += BLOCK) {
		size_t n = count - at < BLOCK ? count - at : BLOCK;
		sl_coins_draw(coins, field, coin, n);
		(subtract ? sl_kernels()->subtract : sl_kernels()->add)(field, s + at, coin, n);
	}
	sodium_memzero(coin, sizeof coin);
}

void sl_coins_add(struct sl_coins *coins, const struct sl_field *field, uint64_t *s, size_t count)
{
	draw_into(coins, field, s, count, false);
}

void sl_coins_subtract(struct sl_coins *coins, const struct sl_field *field, uint64_t *s, size_t count)
{
	draw_into(coins, field, s, count, true);
}

void sl_coins_close(struct sl_coins *coins)
{
	sodium_memzero(coins, sizeof *coins);
	coins->next = sizeof coins->buffer;
}
