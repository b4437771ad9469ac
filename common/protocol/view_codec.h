/* view_codec.h - a view as bytes, as they are kept on disk beside a prepared attempt, and as the Round whose
 * hash is h.
 *
 *    t | a | p | SL_VIEW_NUMBERS | previous[32] | N | N x (id, incarnation)
 *      | edges x (id, id)
 *
 * Every number is 8 bytes, little-endian. Members ascend by id, edges by their first and then their second
 * end, the first the smaller.
 */
#pragma once

#include "common/base/bytes.h"
#include "common/protocol/canonical.h"
#include "common/protocol/view.h"

#define X(name) +1
enum { SL_VIEW_NUMBER_COUNT = 0 SL_VIEW_NUMBERS(X) };
#undef X

#define SL_VIEW_HEAD_BYTES ((3 + SL_VIEW_NUMBER_COUNT + 1) * 8u + SL_HASH_BYTES)
#define SL_VIEW_MEMBER_BYTES 16u
#define SL_VIEW_EDGE_BYTES 16u

static inline size_t sl_view_bytes(uint32_t n, size_t edges)
{
	return SL_VIEW_HEAD_BYTES + (size_t)n * SL_VIEW_MEMBER_BYTES + edges * SL_VIEW_EDGE_BYTES;
}

/* Writes sl_view_bytes(view->n, view->graph.edges) bytes. */
void sl_view_write(const struct sl_view *view, uint8_t *bytes);

/* The head, into t, a, SL_VIEW_NUMBERS of agreed, previous, n and *p; then member by member and edge by edge,
 * by number. SL_ERR_FORMAT for bytes of a size that cannot be. */
int sl_view_read_head(const uint8_t *bytes, size_t size, struct sl_view *view, uint64_t *p, size_t *edges);
void sl_view_read_member(const uint8_t *bytes, uint32_t i, sl_id *id, uint32_t *incarnation);
void sl_view_read_edge(const uint8_t *bytes, uint32_t n, size_t e, sl_id *a, sl_id *b);

/* Fill `round` with what h is the hash of, from `bytes` of sl_view_write or from disk. `members` has room for
 * 2 N numbers and is lent to `round`. SL_ERR_FORMAT for bytes of a size that cannot be, or if there are more
 * than `n_max` members. The ranges are not checked (sl_check_message). */
int sl_view_round(const struct sl_scope *scope, const uint8_t *bytes, size_t size, uint32_t n_max,
		  uint32_t *members, struct sl_round_head *round);
