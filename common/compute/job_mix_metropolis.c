/* metropolis (PROTOCOL.md §8.2 metropolis): from the first MIX of a chunk on, s is X = s << f, as int64; at
 * CLOSE, Z. */
#include <string.h>

#include "common/compute/job_mix_row.h"

#define BLOCK 1024u /* elements on the stack */

static int open_divisors(struct sl_workspace *workspace, const struct sl_view *view)
{
	workspace->divisors = SL_ARENA_TAKE(&workspace->scratch, view->degree, struct sl_divisor);
	if (workspace->divisors == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t r = 0; r < view->degree; r++)
		sl_metropolis_divisor_init(
			&workspace->divisors[r],
			sl_graph_metropolis(&view->graph, view->self, view->neighbours[r]));
	return SL_OK;
}

static bool adds(const struct sl_view *view)
{
	(void)view;
	return false;
}

/* Write X(0) = s << f. */
static void first(const struct sl_view *view, const uint64_t *s, size_t count, uint8_t *out)
{
	int64_t state[BLOCK];
	for (size_t at = 0; at < count; at += BLOCK) {
		size_t n = count - at < BLOCK ? count - at : BLOCK;
		sl_metropolis_open(s + at, view->fraction, n, state);
		memcpy(out + at * SL_STATE_BYTES, state, n * SL_STATE_BYTES);
	}
}

static void step(struct sl_workspace *workspace, const struct sl_view *view, size_t at, size_t count,
		 uint64_t k)
{
	int64_t *state = (int64_t *)workspace->s + at;
	if (k == 0)
		sl_metropolis_open(workspace->s + at, view->fraction, count, state);
	sl_metropolis_step(state, count, workspace->states, workspace->divisors, view->degree);
}

static double close_state(struct sl_workspace *workspace, const struct sl_view *view)
{
	return sl_metropolis_close(&view->field, view->n, view->fraction, (const int64_t *)workspace->s,
				   view->elements, workspace->s);
}

const struct sl_job_mix_row sl_job_mix_metropolis = {
	.open = open_divisors,
	.adds = adds,
	.first = first,
	.step = step,
	.close = close_state,
};
