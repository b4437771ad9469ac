/* slots.h - the deposits of one attempt: a slot for each member of the view. The own slot may be the first;
 * it then changes places with the slot of position 0.
 *
 *    slot    n+1 packed elements | up to a multiple of SL_SLOT_ALIGN
 *
 * The shell owns the memory, which starts as zeros: the daemon maps a file, the simulator emulates a disk.
 * Jobs write and read it. The own slot is durable before the own Ready leaves (ROUND.md §7.11 Ready).
 */
#pragma once

#include "common/base/bytes.h"
#include "common/protocol/view.h"

#define SL_SLOT_ALIGN 4096u
/* Slots that have fewer bytes stay in memory: to map their pages anew costs 5 % of a round. */
#define SL_SLOT_USED_BYTES (4u << 20)
#define SL_SLOT_AROUND_BYTES (64u << 10) /* the system maps so many bytes around one that is read */

struct sl_slots {
	uint8_t *base; /* N slots; NULL: none is open */
	size_t slot_bytes;
	uint32_t first;					 /* the position whose slot is the first */
	void (*used)(const uint8_t *bytes, size_t size); /* told what has been read or written of a slot and
							    is not needed soon; NULL: not needed */
};

static inline size_t sl_slot_state_bytes(const struct sl_view *view)
{
	return sl_packed_bytes((size_t)view->elements, view->field.bits);
}
static inline size_t sl_slot_bytes(const struct sl_view *view)
{
	return (sl_slot_state_bytes(view) + SL_SLOT_ALIGN - 1) / SL_SLOT_ALIGN * SL_SLOT_ALIGN;
}

/* Return the slot of `position`. */
static inline uint32_t sl_slot_of(uint32_t first, uint32_t position)
{
	return position == first ? 0 : position == 0 ? first : position;
}

/* The deposit of `position`; chunk `m` of it. */
static inline uint8_t *sl_slot_state(const struct sl_slots *state_file, uint32_t position)
{
	return state_file->base + sl_slot_of(state_file->first, position) * state_file->slot_bytes;
}
static inline uint8_t *sl_slot_chunk(const struct sl_slots *state_file, const struct sl_view *view,
				     uint32_t position, uint32_t m)
{
	return sl_slot_state(state_file, position) +
	       sl_packed_bytes((size_t)m * SL_CHUNK_ELEMENTS, view->field.bits);
}

/* Say that `size` bytes of a slot are not needed soon, and those before them that were mapped along. */
static inline void sl_slot_used(const struct sl_slots *state_file, const uint8_t *bytes, size_t size)
{
	size_t before = (size_t)(bytes - state_file->base);
	if (before > SL_SLOT_AROUND_BYTES)
		before = SL_SLOT_AROUND_BYTES;
	if (state_file->used != NULL)
		state_file->used(bytes - before, size + before);
}
