#include "test/leak/random_script.h"

/* Words of a stream: masked to the bits of p, little-endian (ROUND.md §5 Randomness and shares). */
static void put_word(struct random_script *random_script, uint8_t *bytes, size_t width, uint64_t value)
{
	uint64_t word = value | any64(&random_script->junk) << random_script->field->bits;
	for (size_t b = 0; b < width; b++)
		bytes[b] = (uint8_t)(word >> (8 * b));
}

static void fill(struct random_script *random_script, uint8_t *bytes, size_t n)
{
	size_t width = random_script->field->draw_bytes;
	uint64_t rejected = UINT64_MAX >> (64 - random_script->field->bits); /* no prime is more */
	memset(bytes, 0xff, n);
	if (random_script->next + random_script->elements > random_script->count)
		fail_msg("more random numbers are drawn than neighbours get elements");
	for (size_t l = 0; l < random_script->elements; l++) {
		put_word(random_script, bytes + 2 * l * width, width, rejected);
		put_word(random_script, bytes + (2 * l + 1) * width, width,
			 random_script->randomness[random_script->next++]);
	}
}

void random_script_read(void *context, uint8_t *bytes, size_t n)
{
	struct random_script *random_script = context;
	if (n != SL_KEY_BYTES) {
		fill(random_script, bytes, n);
		return;
	}
	for (size_t b = 0; b < n; b++)
		bytes[b] = (uint8_t)any64(&random_script->junk);
}

/* --- seeds --- */

struct seed {
	struct seed *next;
	uint8_t key[SL_KEY_BYTES];
	struct random_script owner, holder;
	uint64_t randomness[];
};

static struct seed *find(const struct seeds *seeds, const uint8_t *key)
{
	struct seed *seed = seeds->first;
	while (seed != NULL && memcmp(seed->key, key, SL_KEY_BYTES) != 0)
		seed = seed->next;
	return seed;
}

static struct seed *expect(const struct seeds *seeds, const uint8_t *key)
{
	struct seed *seed = find(seeds, key);
	assert_non_null(seed);
	return seed;
}

void seeds_own(struct seeds *seeds, struct sl_prg *stream, const struct sl_field *field,
	       const uint64_t *randomness, size_t count)
{
	struct seed *seed = malloc(sizeof *seed + count * sizeof *randomness);
	assert_true(seed != NULL && find(seeds, stream->key) == NULL);
	*seed = (struct seed){.next = seeds->first};
	memcpy(seed->key, stream->key, SL_KEY_BYTES);
	memcpy(seed->randomness, randomness, count * sizeof *randomness);
	seed->owner = (struct random_script){
		.field = field, .randomness = seed->randomness, .count = count, .elements = count};
	seed->holder = seed->owner;
	seeds->first = seed;
	sl_prg_open_source(stream, random_script_read, &seed->owner);
}

void seeds_hold(const struct seeds *seeds, struct sl_prg *stream)
{
	struct seed *seed = expect(seeds, stream->key);
	sl_prg_open_source(stream, random_script_read, &seed->holder);
}

const uint64_t *seeds_randomness(const struct seeds *seeds, const uint8_t *bytes)
{
	return expect(seeds, bytes)->randomness;
}

void seeds_free(struct seeds *seeds)
{
	while (seeds->first != NULL) {
		struct seed *seed = seeds->first;
		seeds->first = seed->next;
		free(seed);
	}
}
