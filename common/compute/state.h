/* state.h - the vector s of a workspace: n+1 elements of Z_p, packed at the bits of p. Jobs unpack a chunk of
 * it, work on that, and pack it again.
 *
 *    s    packed elements | up to 8 bytes | elements of a chunk, unpacked
 */
#pragma once

#include "common/base/bytes.h"
#include "common/compute/workspace.h"

/* Return the bytes of s, packed; and of the memory that it takes. */
static inline size_t sl_state_packed(const struct sl_view *view)
{
	return sl_packed_bytes((size_t)view->elements, view->field.bits);
}
size_t sl_state_bytes(const struct sl_view *view);

/* Return the place of element `first`, a multiple of 8. */
static inline uint8_t *sl_state_at(const struct sl_workspace *workspace, const struct sl_view *view,
				   size_t first)
{
	return workspace->s + sl_packed_bytes(first, view->field.bits);
}

/* Unpack `count` elements from `first` on, both as of a chunk, and return them. They are valid until the next
 * call of sl_state_take. */
uint64_t *sl_state_take(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
			size_t count);
/* Pack them, changed, into their place. */
void sl_state_put(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
		  size_t count);
/* Return the memory of a chunk, with any contents. */
uint64_t *sl_state_chunk(const struct sl_workspace *workspace, const struct sl_view *view);
/* Return element `l`: slow. */
uint64_t sl_state_element(const struct sl_workspace *workspace, const struct sl_view *view, size_t l);

/* Return the elements of the second vector that mixing with the engine of the view needs, 0: none. */
size_t sl_state_second(const struct sl_view *view);
