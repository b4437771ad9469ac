#include "test/leak/seeds.h"

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
