/* prg.h - a stream of uniform field elements (ROUND.md §5.1 The uniform stream).
 *
 * The stream is that of ChaCha20 under a 32-byte key: a nonce of 64 bits, 0 unless stated otherwise; blocks
 * counted from 0 (64 bits).
 * Candidate k is its bytes k w .. k w + w - 1, w = field->draw_bytes, as a little-endian number of which the
 * low field->bits bits are kept; candidates below p are the elements, in order; the others are skipped.
 * `seeded` makes this part of the wire format: every kernel and machine gives the same elements.
 *
 *     key stream  | w bytes | w bytes | w bytes | ..     w = 1 (p < 2^8) .. 4 (2^31-1), 5, 6, .. 8 (2^61-1)
 *     candidate       0         1         2              straddles blocks where w does not divide 64
 *
 * A stream owns its buffer of key stream, which close wipes. It gets its key or its source from the caller.
 * Sampling masks to the bit length of p and rejects; it never uses `%`.
 */
#pragma once

#include "common/field/field.h"

#define SL_PRG_CARRY 8u /* room for a candidate that straddles two fillings */

/* Fill `bytes` with n uniform bytes (the operating system's generator, for `sharing: os`). */
typedef void (*sl_prg_source)(void *context, uint8_t *bytes, size_t n);

struct sl_prg {
	uint8_t key[SL_KEY_BYTES];
	uint64_t nonce;
	uint64_t block;	      /* next ChaCha20 block of 64 bytes */
	sl_prg_source source; /* NULL: the key is the source */
	void *context;
	size_t next;   /* first unused byte of buffer */
	size_t filled; /* bytes of the last filling, which lie at the end of buffer */
	uint8_t buffer[SL_PRG_CARRY + 2048];
};

/* Start the stream of `key`, which must be fresh: one key is for one stream over one field. */
void sl_prg_open(struct sl_prg *prg, const uint8_t key[static SL_KEY_BYTES]);
/* Start stream `nonce` of a key that has several. */
void sl_prg_open_at(struct sl_prg *prg, const uint8_t key[static SL_KEY_BYTES], uint64_t nonce);
/* Start a stream that takes every byte from `source`. */
void sl_prg_open_source(struct sl_prg *prg, sl_prg_source source, void *context);
/* Write the next `count` independent uniform elements of Z_p to `out` (a draw of a+b equals a draw of a, then
 * of b). */
void sl_prg_fill(struct sl_prg *prg, const struct sl_field *field, uint64_t *out, size_t count);
/* Add the same elements to `s`, or subtract them: a `seeded` share at the neighbour, and at its owner. */
void sl_prg_add(struct sl_prg *prg, const struct sl_field *field, uint64_t *s, size_t count);
void sl_prg_subtract(struct sl_prg *prg, const struct sl_field *field, uint64_t *s, size_t count);
/* Wipe the key and the buffer. */
void sl_prg_close(struct sl_prg *prg);
