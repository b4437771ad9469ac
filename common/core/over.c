#include "common/core/over.h"

#include <string.h>

uint8_t sl_over_judge(const struct sl_abort *abort_record, const uint8_t *ready)
{
	static const uint8_t none[SL_HASH_BYTES];
	bool unready = memcmp(abort_record->ready, none, SL_HASH_BYTES) == 0;
	if (ready != NULL && memcmp(abort_record->ready, ready, SL_HASH_BYTES) != 0)
		return 0;
	return (uint8_t)(abort_record->says | (unready ? SL_OVER_UNREADY : 0));
}

/* Return true if `least` participants are out: each has sent no Ready and never will, or has signed, with
 * `more` holders of its key beyond the number that leaves too few others to open it, never to release. */
static bool are_out(const struct sl_view *view, const uint8_t *marks, uint64_t more, uint64_t least)
{
	uint64_t out = 0;
	for (uint32_t j = 0; j < view->n; j++) {
		const uint32_t *holders = sl_graph_neighbours(&view->graph, j);
		uint64_t degree = sl_graph_degree(&view->graph, j), signers = 0;
		for (uint32_t k = 0; k < degree; k++)
			signers += (marks[holders[k]] & SL_ABORT_UNRELEASED) != 0;
		bool shut = signers + sl_view_threshold(view, j) >= degree + 1 + more;
		out += (marks[j] & SL_OVER_UNREADY) != 0 || (shut && (marks[j] & SL_ABORT_UNRELEASED) != 0);
	}
	return out >= least;
}

/* Return the number of Digests that a commit would lack without the participants that never sign one. */
static uint64_t lacking(const struct sl_view *view, const uint8_t *marks)
{
	uint64_t may_sign = 0,
		 digests = sl_view_digests(view->n, view->agreed.tolerance, view->agreed.forgetful);
	for (uint32_t i = 0; i < view->n; i++)
		may_sign += (marks[i] & SL_ABORT_UNSIGNED) == 0;
	return digests > may_sign ? digests - may_sign : 0;
}

bool sl_over_hopeless(const struct sl_view *view, const uint8_t *marks)
{
	return lacking(view, marks) > 0;
}

bool sl_over_proved(const struct sl_view *view, const uint8_t *marks)
{
	uint64_t f = view->agreed.forgetful;
	return are_out(view, marks, f, 1 + f) || lacking(view, marks) >= 1 + f;
}

bool sl_over_reusable(const struct sl_view *view, const uint8_t *marks)
{
	uint64_t more = view->agreed.tolerance + view->agreed.forgetful;
	return are_out(view, marks, more, 1 + more);
}
