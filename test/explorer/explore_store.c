#include "test/explorer/explore_store.h"

#include <stdlib.h>
#include <string.h>

#define SLAB ((size_t)1 << 22)
#define FREE UINT32_MAX

static void *insist(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

static uint32_t hash_of(const uint8_t *bytes, size_t size)
{
	uint64_t hash = size * UINT64_C(0x9e3779b97f4a7c15), word;
	for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
		memcpy(&word, bytes, sizeof word);
		hash = (hash ^ word) * UINT64_C(0xbf58476d1ce4e5b9);
		hash ^= hash >> 29;
	}
	for (; size > 0; size--)
		hash = (hash ^ *bytes++) * UINT64_C(0x94d049bb133111eb);
	hash ^= hash >> 32;
	return (uint32_t)hash;
}

static void insert(struct sl_explore_store *s, uint32_t number)
{
	uint32_t k = s->hashes[number] & s->mask;
	while (s->table[k] != FREE)
		k = (k + 1) & s->mask;
	s->table[k] = number;
}

static void grow(struct sl_explore_store *s)
{
	s->room = s->room == 0 ? 1024 : 2 * s->room;
	s->mask = 2 * s->room - 1;
	s->at = insist(reallocarray(s->at, s->room, sizeof *s->at));
	s->sizes = insist(reallocarray(s->sizes, s->room, sizeof *s->sizes));
	s->hashes = insist(reallocarray(s->hashes, s->room, sizeof *s->hashes));
	free(s->table);
	s->table = insist(malloc(2 * s->room * sizeof *s->table));
	memset(s->table, 0xff, 2 * s->room * sizeof *s->table);
	for (uint32_t i = 0; i < s->count; i++)
		insert(s, i);
	s->bytes = s->slab_count * SLAB +
		   s->room * (sizeof *s->at + sizeof *s->sizes + sizeof *s->hashes + 2 * sizeof *s->table);
}

static const uint8_t *keep(struct sl_explore_store *s, const void *bytes, size_t size)
{
	size_t whole = (size + 7) / 8 * 8;
	if (s->slab_left < whole) {
		size_t fresh = whole > SLAB ? whole : SLAB;
		s->slabs = insist(reallocarray(s->slabs, s->slab_count + 1, sizeof *s->slabs));
		s->slab = s->slabs[s->slab_count++] = insist(malloc(fresh));
		s->slab_left = fresh;
		s->bytes += fresh;
	}
	uint8_t *at = s->slab;
	if (size > 0)
		memcpy(at, bytes, size);
	s->slab += whole;
	s->slab_left -= whole;
	return at;
}

uint32_t sl_explore_store_put(struct sl_explore_store *s, const void *bytes, size_t size)
{
	uint32_t hash = hash_of(bytes, size);
	if (s->count == s->room)
		grow(s);
	for (uint32_t k = hash & s->mask; s->table[k] != FREE; k = (k + 1) & s->mask) {
		uint32_t number = s->table[k];
		if (s->hashes[number] == hash && s->sizes[number] == size &&
		    (size == 0 || memcmp(s->at[number], bytes, size) == 0))
			return number;
	}
	uint32_t number = s->count++;
	s->hashes[number] = hash;
	s->sizes[number] = (uint32_t)size;
	s->at[number] = keep(s, bytes, size);
	insert(s, number);
	return number;
}

const void *sl_explore_store_get(const struct sl_explore_store *s, uint32_t number, size_t *size)
{
	if (size != NULL)
		*size = s->sizes[number];
	return s->at[number];
}

void sl_explore_store_free(struct sl_explore_store *s)
{
	for (uint32_t k = 0; k < s->slab_count; k++)
		free(s->slabs[k]);
	free(s->slabs);
	free(s->at);
	free(s->sizes);
	free(s->hashes);
	free(s->table);
	*s = (struct sl_explore_store){.count = 0};
}
