#include "test/leak/tape.h"

/* Words of a stream: masked to the bits of p, little-endian (PROTOCOL.md §5 Randomness and shares). */
static void put_word(struct random_script *random_script, uint8_t *bytes, size_t width, uint64_t value)
{
	uint64_t word = value | any64(&random_script->junk) << random_script->field->bits;
	for (size_t b = 0; b < width; b++)
		bytes[b] = (uint8_t)(word >> (8 * b));
}

static void fill(struct random_script *random_script, uint8_t *bytes, size_t n)
{
	size_t width = random_script->field->bytes;
	uint64_t rejected = UINT64_MAX >> (64 - random_script->field->bits); /* no prime is more */
	memset(bytes, 0xff, n);
	if (random_script->next + random_script->elements > random_script->count)
		fail_msg("more coins are drawn than neighbours get elements");
	for (size_t l = 0; l < random_script->elements; l++) {
		put_word(random_script, bytes + 2 * l * width, width, rejected);
		put_word(random_script, bytes + (2 * l + 1) * width, width,
			 random_script->randomness[random_script->next++]);
	}
}

void random_script_read(void *context, uint8_t *bytes, size_t n)
{
	struct random_script *random_script = context;
	if (n != SL_NONCE_BYTES) {
		fill(random_script, bytes, n);
		return;
	}
	for (size_t b = 0; b < n; b++)
		bytes[b] = random_script->nonce[b] = (uint8_t)any64(&random_script->junk);
	random_script->nonces++;
}
