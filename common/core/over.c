#include "common/core/over.h"

#include <string.h>

static const uint8_t no_ready[SL_HASH_BYTES];

uint8_t sl_over_judge(const struct sl_abort *abort_record, const uint8_t *ready)
{
	if (ready != NULL)
		return memcmp(abort_record->ready, ready, SL_HASH_BYTES) == 0 ? SL_OVER_ABORTED : 0;
	bool unready = memcmp(abort_record->ready, no_ready, SL_HASH_BYTES) == 0;
	return unready ? SL_OVER_ABORTED | SL_OVER_UNREADY : SL_OVER_ABORTED;
}

static uint64_t count(const struct sl_view *view, const uint8_t *marks, uint8_t mark)
{
	uint64_t found = 0;
	for (uint32_t i = 0; i < view->n; i++)
		found += (marks[i] & mark) != 0;
	return found;
}

/* Return true if for `least` participants j there are Aborts of j and of `more` holders of its key beyond the
 * number that leaves too few others to open it. */
static bool closed(const struct sl_view *view, const uint8_t *marks, uint64_t more, uint64_t least)
{
	uint64_t found = 0;
	for (uint32_t j = 0; j < view->n; j++) {
		const uint32_t *holders = sl_graph_neighbours(&view->graph, j);
		uint64_t degree = sl_graph_degree(&view->graph, j), signers = 0;
		if ((marks[j] & SL_OVER_ABORTED) == 0)
			continue;
		for (uint32_t k = 0; k < degree; k++)
			signers += (marks[holders[k]] & SL_OVER_ABORTED) != 0;
		found += signers + sl_view_threshold(view, j) >= degree + 1 + more;
	}
	return found >= least;
}

bool sl_over_unmixed(const struct sl_view *view, const uint8_t *marks)
{
	return count(view, marks, SL_OVER_ABORTED) >= 1 + view->agreed.forgetful;
}

/* Return the number of Digests that a commit would lack without the participants that never sign one. */
static uint64_t lacking(const struct sl_view *view, const uint8_t *marks)
{
	uint64_t digests = sl_view_digests(view->n, view->agreed.tolerance, view->agreed.forgetful);
	uint64_t may_sign = view->n - count(view, marks, SL_OVER_GIVEN_UP | SL_OVER_UNREADY);
	return digests > may_sign ? digests - may_sign : 0;
}

bool sl_over_hopeless(const struct sl_view *view, const uint8_t *marks)
{
	return lacking(view, marks) > 0;
}

bool sl_over_proved(const struct sl_view *view, const uint8_t *marks)
{
	uint64_t f = view->agreed.forgetful;
	return count(view, marks, SL_OVER_UNREADY) >= 1 + f || closed(view, marks, f, 1 + f) ||
	       lacking(view, marks) >= 1 + f;
}

bool sl_over_reusable(const struct sl_view *view, const uint8_t *marks)
{
	uint64_t more = view->agreed.tolerance + view->agreed.forgetful;
	return count(view, marks, SL_OVER_UNREADY) >= 1 + more || closed(view, marks, more, 1 + more);
}
