/* heap.h - where hosted learners, their disks and their packets take memory from: malloc, or a block that the
 * explorer (explore.h) can copy as a whole.
 *
 * A block is used by one thread at a time. Within it, memory is zeroed, aligned to 64 bytes, and given out
 * from the lowest address that is free: the same calls yield the same bytes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct sl_heap {
	size_t size; /* of the block, this struct included */
	size_t used; /* no byte from here on is in use */
};

/* Start an empty heap in `size` bytes at `heap`: zeros, aligned to 64 bytes. */
void sl_heap_init(struct sl_heap *heap, size_t size);
/* Take the memory of this thread from `heap` from now on; NULL: from malloc. Return the heap before. */
struct sl_heap *sl_heap_use(struct sl_heap *heap);

/* As malloc, calloc and free, on the heap in use. A full heap ends the program. */
void *sl_heap_take(size_t size);
void *sl_heap_zeroed(size_t count, size_t size);
void sl_heap_give(void *memory);
