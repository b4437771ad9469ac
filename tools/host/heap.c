#include "tools/host/heap.h"

#include <stdlib.h>
#include <string.h>

#define UNIT 64u

/* Before each piece. Pieces follow each other up to `used`. */
struct piece {
	size_t units; /* of the piece, without this header */
	size_t taken;
	uint8_t fill[UNIT - 2 * sizeof(size_t)];
};
_Static_assert(sizeof(struct piece) == UNIT, "a header takes one unit");
_Static_assert(sizeof(struct sl_heap) <= UNIT, "so does the head of the heap");

static _Thread_local struct sl_heap *in_use;

void sl_heap_init(struct sl_heap *heap, size_t size)
{
	*heap = (struct sl_heap){.size = size, .used = UNIT};
}

struct sl_heap *sl_heap_use(struct sl_heap *heap)
{
	struct sl_heap *before = in_use;
	in_use = heap;
	return before;
}

static struct piece *at(struct sl_heap *heap, size_t offset)
{
	return (struct piece *)((uint8_t *)heap + offset);
}

/* Join the free pieces that follow the one at `offset`; those at the end are no longer in use. */
static void join(struct sl_heap *heap, size_t offset)
{
	struct piece *piece = at(heap, offset);
	size_t next = offset + (1 + piece->units) * UNIT;
	while (next < heap->used && !at(heap, next)->taken) {
		size_t units = 1 + at(heap, next)->units;
		memset(at(heap, next), 0, sizeof *piece);
		piece->units += units;
		next += units * UNIT;
	}
	if (next == heap->used) {
		memset(piece, 0, sizeof *piece);
		heap->used = offset;
	}
}

static void *take(struct sl_heap *heap, size_t size)
{
	size_t units = (size + UNIT - 1) / UNIT, offset = UNIT;
	for (; offset < heap->used; offset += (1 + at(heap, offset)->units) * UNIT) {
		struct piece *piece = at(heap, offset);
		if (piece->taken || piece->units < units)
			continue;
		if (piece->units > units) { /* the rest is a piece of its own */
			at(heap, offset + (1 + units) * UNIT)->units = piece->units - units - 1;
			piece->units = units;
		}
		piece->taken = size;
		return piece + 1;
	}
	if (heap->size - heap->used < (1 + units) * UNIT)
		abort();
	struct piece *piece = at(heap, heap->used);
	*piece = (struct piece){.units = units, .taken = size};
	heap->used += (1 + units) * UNIT;
	return piece + 1;
}

void *sl_heap_take(size_t size)
{
	return in_use != NULL ? take(in_use, size > 0 ? size : 1) : malloc(size);
}

void *sl_heap_zeroed(size_t count, size_t size)
{
	return in_use != NULL ? sl_heap_take(count * size) : calloc(count, size);
}

void sl_heap_give(void *memory)
{
	if (in_use == NULL || memory == NULL) {
		free(memory);
		return;
	}
	struct piece *piece = (struct piece *)memory - 1;
	memset(memory, 0, piece->units * UNIT);
	piece->taken = 0;
	size_t before = UNIT, offset = (size_t)((uint8_t *)piece - (uint8_t *)in_use);
	for (size_t k = UNIT; k < offset; k += (1 + at(in_use, k)->units) * UNIT)
		before = k;
	join(in_use, offset);
	if (before < offset && !at(in_use, before)->taken)
		join(in_use, before);
}
