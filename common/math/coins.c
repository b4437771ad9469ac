#include "common/math/coins.h"

#include <assert.h>
#include <endian.h>
#include <sodium.h>
#include <string.h>

#define CHACHA_BLOCK_BYTES 64u

static_assert(sizeof((struct sl_coins *)0)->buffer % CHACHA_BLOCK_BYTES == 0, "refills take whole blocks");
static_assert(SL_KEY_BYTES == crypto_stream_chacha20_KEYBYTES, "a coin key is a ChaCha20 key");

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

static void refill(struct sl_coins *coins)
{
	static const uint8_t
		nonce[crypto_stream_chacha20_NONCEBYTES]; /* 0: every key is used for one stream */
	coins->next = 0;
	if (coins->source != NULL) {
		coins->source(coins->context, coins->buffer, sizeof coins->buffer);
		return;
	}
	memset(coins->buffer, 0, sizeof coins->buffer);
	crypto_stream_chacha20_xor_ic(coins->buffer, coins->buffer, sizeof coins->buffer, nonce, coins->block,
				      coins->key);
	coins->block += sizeof coins->buffer / CHACHA_BLOCK_BYTES;
}

/* Takes what the buffer holds, up to `count` accepted elements. Every word is stored; a rejected one is
 * overwritten by the next, which spares a branch that p just above a power of two would make unpredictable.
 */
static size_t take4(struct sl_coins *coins, uint64_t p, uint64_t mask, uint64_t *out, size_t count)
{
	size_t done = 0, next = coins->next;
	for (; done < count && next + 4 <= sizeof coins->buffer; next += 4) {
		uint32_t word;
		memcpy(&word, coins->buffer + next, sizeof word);
		out[done] = le32toh(word) & mask;
		done += out[done] < p;
	}
	coins->next = next;
	return done;
}

static size_t take8(struct sl_coins *coins, uint64_t p, uint64_t mask, uint64_t *out, size_t count)
{
	size_t done = 0, next = coins->next;
	for (; done < count && next + 8 <= sizeof coins->buffer; next += 8) {
		uint64_t word;
		memcpy(&word, coins->buffer + next, sizeof word);
		out[done] = le64toh(word) & mask;
		done += out[done] < p;
	}
	coins->next = next;
	return done;
}

void sl_coins_draw(struct sl_coins *coins, const struct sl_field *field, uint64_t *out, size_t count)
{
	uint64_t mask = UINT64_MAX >> (64 - field->bits);
	size_t word_bytes = field->bits <= 32 ? 4 : 8;
	for (size_t done = 0; done < count;) {
		if (coins->next + word_bytes > sizeof coins->buffer)
			refill(coins);
		done += word_bytes == 4 ? take4(coins, field->p, mask, out + done, count - done)
					: take8(coins, field->p, mask, out + done, count - done);
	}
}

void sl_coins_close(struct sl_coins *coins)
{
	sodium_memzero(coins, sizeof *coins);
	coins->next = sizeof coins->buffer;
}
