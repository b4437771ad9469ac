/* coins.h - a stream of uniform field elements (protocol 3).
 *
 * Owns its buffer of key stream; wiped by close. Draws nothing by itself: it is handed a key, or a source.
 * Sampling masks to the bit length of p and rejects; never `%`.
 */
#pragma once

#include "common/math/field.h"

/* Fills `bytes` with n uniform bytes (the operating system's generator, for `coins: os`). */
typedef void (*sl_coin_source)(void *context, uint8_t *bytes, size_t n);

struct sl_coins {
	uint8_t key[SL_KEY_BYTES];
	uint64_t block;          /* next ChaCha20 block of 64 bytes */
	sl_coin_source source;   /* instead of the key, when not NULL */
	void *context;
	size_t next;             /* first unused byte of buffer */
	uint8_t buffer[4096];
};

/* ChaCha20 under a fresh 32-byte key, nonce 0. A program that called sodium_init() gets the fast one. */
void sl_coins_open(struct sl_coins *coins, const uint8_t key[static SL_KEY_BYTES]);
/* Every byte from `source`. */
void sl_coins_open_source(struct sl_coins *coins, sl_coin_source source, void *context);
/* `count` independent uniform elements of Z_p, in stream order (a draw of a+b equals a draw of a, then b). */
void sl_coins_draw(struct sl_coins *coins, const struct sl_field *field, uint64_t *out, size_t count);
/* Wipes key and buffer. */
void sl_coins_close(struct sl_coins *coins);
