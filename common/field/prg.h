/* prg.h - a stream of uniform field elements (protocol 3).
 *
 * The stream is that of ChaCha20 under a 32-byte key: nonce 0 (64 bits), blocks counted from 0 (64 bits).
 * Candidate k is its bytes k w .. k w + w - 1, w = field->bytes, as a little-endian number of which the low
 * field->bits bits are kept; candidates below p are the elements, in order, and the others are passed over.
 * `seeded` makes this part of the wire format: every kernel and machine gives the same elements.
 *
 *     key stream  | w bytes | w bytes | w bytes | ..     w = 1 (p < 2^8) .. 4 (2^31-1), 5, 6, .. 8 (2^61-1)
 *     candidate       0         1         2              straddles blocks where w does not divide 64
 *
 * Owns its buffer of key stream; wiped by close. Draws nothing by itself: it is handed a key, or a source.
 * Sampling masks to the bit length of p and rejects; never `%`.
 */
#pragma once

#include "common/field/field.h"

#define SL_PRG_CARRY 8u /* bytes of a candidate begun in one filling and ended in the next */

/* Fills `bytes` with n uniform bytes (the operating system's generator, for `coins: os`). */
typedef void (*sl_prg_source)(void *context, uint8_t *bytes, size_t n);

struct sl_prg {
	uint8_t key[SL_KEY_BYTES];
	uint64_t block;	      /* next ChaCha20 block of 64 bytes */
	sl_prg_source source; /* instead of the key, when not NULL */
	void *context;
	size_t next; /* first unused byte of buffer */
	uint8_t buffer[SL_PRG_CARRY + 4096];
};

/* A fresh 32-byte key, for one stream and one field. */
void sl_prg_open(struct sl_prg *prg, const uint8_t key[static SL_KEY_BYTES]);
/* Every byte from `source`. */
void sl_prg_open_source(struct sl_prg *prg, sl_prg_source source, void *context);
/* `count` independent uniform elements of Z_p, in stream order (a draw of a+b equals a draw of a, then b). */
void sl_prg_fill(struct sl_prg *prg, const struct sl_field *field, uint64_t *out, size_t count);
/* The same elements, added to s or subtracted from it: a `seeded` share at the neighbour, and at its owner.
 */
void sl_prg_add(struct sl_prg *prg, const struct sl_field *field, uint64_t *s, size_t count);
void sl_prg_subtract(struct sl_prg *prg, const struct sl_field *field, uint64_t *s, size_t count);
/* Wipes key and buffer. */
void sl_prg_close(struct sl_prg *prg);
