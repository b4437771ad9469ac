/* slots.h - the masked states of one attempt, as they were released: a slot for each member of its view, by
 * position.
 *
 *    slot    nonce[32] | n+1 elements at the width of p, little-endian | up to a multiple of SL_SLOT_ALIGN
 *
 * The memory is the shell's, and starts as zeros: a file that it maps in (the daemon), a disk that it plays
 * (the simulator). Jobs write and read it. The own slot is durable before the own Ready leaves (protocol 6,
 * READY). A nonce is never all zeros: that is a slot of which nothing has come yet.
 */
#pragma once

#include "common/protocol/view.h"

#define SL_SLOT_ALIGN 4096u

struct sl_slots {
	uint8_t *base; /* N slots; NULL: none is open */
	size_t slot_bytes;
};

static inline size_t sl_slot_state_bytes(const struct sl_view *view)
{
	return (size_t)view->elements * view->field.bytes;
}
static inline size_t sl_slot_bytes(const struct sl_view *view)
{
	return (SL_NONCE_BYTES + sl_slot_state_bytes(view) + SL_SLOT_ALIGN - 1) / SL_SLOT_ALIGN *
	       SL_SLOT_ALIGN;
}

static inline uint8_t *sl_slot_nonce(const struct sl_slots *state_file, uint32_t position)
{
	return state_file->base + position * state_file->slot_bytes;
}
/* s_i(0), or chunk m of it. */
static inline uint8_t *sl_slot_state(const struct sl_slots *state_file, uint32_t position)
{
	return sl_slot_nonce(state_file, position) + SL_NONCE_BYTES;
}
static inline uint8_t *sl_slot_chunk(const struct sl_slots *state_file, const struct sl_view *view,
				     uint32_t position, uint32_t m)
{
	return sl_slot_state(state_file, position) + (size_t)m * SL_CHUNK_ELEMENTS * view->field.bytes;
}
