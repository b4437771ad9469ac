#include "test/leak/tape.h"

/* Words of a stream: masked to the bits of p, little-endian (protocol 3). */
static void put_word(struct tape *tape, uint8_t *bytes, size_t width, uint64_t value)
{
	uint64_t word = value | any64(&tape->junk) << tape->field->bits;
	for (size_t b = 0; b < width; b++)
		bytes[b] = (uint8_t)(word >> (8 * b));
}

static void fill(struct tape *tape, uint8_t *bytes, size_t n)
{
	size_t width = tape->field->bytes;
	uint64_t rejected = UINT64_MAX >> (64 - tape->field->bits); /* no prime is more */
	memset(bytes, 0xff, n);
	if (tape->next + tape->elements > tape->count)
		fail_msg("more coins are drawn than neighbours get elements");
	for (size_t l = 0; l < tape->elements; l++) {
		put_word(tape, bytes + 2 * l * width, width, rejected);
		put_word(tape, bytes + (2 * l + 1) * width, width, tape->coins[tape->next++]);
	}
}

void tape_read(void *context, uint8_t *bytes, size_t n)
{
	struct tape *tape = context;
	if (n != SL_NONCE_BYTES) {
		fill(tape, bytes, n);
		return;
	}
	for (size_t b = 0; b < n; b++)
		bytes[b] = tape->nonce[b] = (uint8_t)any64(&tape->junk);
	tape->nonces++;
}
