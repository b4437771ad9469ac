/* state.h - the vector s of a workspace: n+1 elements of Z_p, packed at the bits of p. Jobs unpack a block of
 * it, work on that, and pack it again.
 */
#pragma once

#include "common/base/bytes.h"
#include "common/compute/workspace.h"

/* Return the bytes of s. */
static inline size_t sl_state_packed(const struct sl_view *view)
{
	return sl_packed_bytes((size_t)view->elements, view->field.bits);
}

/* Return the place of element `first`, a multiple of 8. */
static inline uint8_t *sl_state_at(const struct sl_workspace *workspace, const struct sl_view *view,
				   size_t first)
{
	return workspace->s + sl_packed_bytes(first, view->field.bits);
}

/* Unpack `count` elements from `first` on, to `out`. */
void sl_state_take(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
		   size_t count, uint64_t *out);
/* Pack `elements` into their place. */
void sl_state_put(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
		  size_t count, const uint64_t *elements);
/* Return element `l`: slow. */
uint64_t sl_state_element(const struct sl_workspace *workspace, const struct sl_view *view, size_t l);

/* Return the elements of the second vector that mixing with the engine of the view needs, 0: none. */
size_t sl_state_second(const struct sl_view *view);
