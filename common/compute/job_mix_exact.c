/* exact (ROUND.md §8.3 exact): s is x(k); the sum over k grows in workspace->second, and a chunk's
 * last MIX moves it to s. */
#include <string.h>

#include "common/compute/job_mix_row.h"
#include "common/compute/state.h"
#include "common/field/vector.h"

static int open_weights(struct sl_workspace *workspace, const struct sl_view *view)
{
	const struct sl_field *field = &view->field;
	uint64_t own = 1;
	workspace->weights = SL_ARENA_TAKE(&workspace->scratch, view->degree + 1, uint64_t);
	if (workspace->weights == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t r = 0; r < view->degree; r++) {
		uint32_t d = sl_graph_metropolis(&view->graph, view->self, view->neighbours[r]);
		workspace->weights[r] = sl_field_inverse(field, d); /* d <= N < p */
		own = sl_field_sub(field, own, workspace->weights[r]);
	}
	workspace->weights[view->degree] = own;
	return SL_OK;
}

/* Return true if one exchange is enough: W is 1/N everywhere, as on a complete graph and on no other, and Z =
 * N W x, the sum of all deposits. */
static bool plain_sum(const struct sl_view *view)
{
	return view->steps == 1;
}

static int take(struct sl_workspace *workspace, const struct sl_view *view, const struct sl_buffer *b)
{
	size_t count = sl_view_chunk_elements(view, b->index);
	(void)workspace;
	return sl_vector_valid(&view->field, b->bytes, count) ? SL_OK : SL_ERR_INVALID;
}

static void step(struct sl_workspace *workspace, const struct sl_view *view, size_t at, size_t count,
		 uint64_t k)
{
	if (plain_sum(view))
		return;
	uint64_t state[SL_JOB_MIX_BLOCK], *sum = workspace->second + at;
	const uint64_t *part = workspace->analysis.r;
	uint8_t *packed = sl_state_at(workspace, view, at);
	sl_vector_unpack(&view->field, packed, count, state);
	if (k == 0) {
		memcpy(sum, state, count * sizeof *sum);
		sl_vector_scale(&view->field, sum, count, part[0]);
	}
	sl_vector_update(&view->field, state, sum, part[k + 1], count, workspace->states, workspace->weights,
			 view->degree);
	sl_bytes_pack(packed, k + 1 == view->steps ? sum : state, count, view->field.bits);
}

const struct sl_job_mix_row sl_job_mix_exact = {
	.open = open_weights, .adds = plain_sum, .take = take, .step = step};
