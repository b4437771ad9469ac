/* forest (ROUND.md §8.4 forest): s is what has come up so far in the tree of the chunk; then Z, which
 * comes down. */
#include <string.h>

#include "common/compute/job_mix_row.h"
#include "common/compute/job_share.h"
#include "common/compute/state.h"
#include "common/field/vector.h"

/* Return true if `b` is Z itself. */
static bool is_sum(const struct sl_buffer *b)
{
	return b->iteration == SL_FOREST_DOWN;
}

static int take(struct sl_workspace *workspace, const struct sl_view *view, struct sl_buffer *b)
{
	size_t first = (size_t)b->index * view->state_elements,
	       count = sl_view_state_elements(view, b->index);
	if (is_sum(b)) {
		if (!sl_vector_valid(&view->field, b->bytes, count))
			return SL_ERR_INVALID;
		memcpy(sl_state_at(workspace, view, first), b->bytes,
		       sl_packed_bytes(count, view->field.bits));
		return SL_OK;
	}
	return sl_job_share_add(workspace, view, b->bytes, first, count);
}

const struct sl_job_mix_row sl_job_mix_forest = {.take = take};
