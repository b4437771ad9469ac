/* forest (PROTOCOL.md §8.4 forest): s is what has come up so far in the tree of the chunk; then Z, which
 * comes down. */
#include "common/compute/job_mix_row.h"
#include "common/field/vector.h"

/* Return true if `b` is Z itself. */
static bool is_sum(const struct sl_buffer *b)
{
	return b->iteration == SL_FOREST_DOWN;
}

static int take(struct sl_workspace *workspace, const struct sl_view *view, const struct sl_buffer *b)
{
	uint64_t *s = workspace->s + (size_t)b->index * view->state_elements;
	return sl_vector_take(&view->field, s, b->bytes, sl_view_state_elements(view, b->index), !is_sum(b));
}

const struct sl_job_mix_row sl_job_mix_forest = {.take = take};
