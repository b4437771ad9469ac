/* metropolis (ROUND.md §8.2 metropolis): from the first MIX of a chunk on, workspace->second is X = s <<
 * f, as int64; CLOSE makes Z of it, in s. */
#include <math.h>
#include <string.h>

#include "common/compute/job_mix_row.h"
#include "common/compute/state.h"
#include "common/mixing/spectrum.h"

#define SAMPLE 256u /* elements of which the spread is taken: masked states are alike everywhere */

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
	sl_metropolis_open(s, view->fraction, count, (int64_t *)(void *)out);
}

/* Return true if the spread is taken after `k` exchanges: evenly, SL_SPREADS_MAX times at most, the first and
 * the last exchange among them. */
static bool has_spread(const struct sl_view *view, uint64_t k)
{
	uint64_t last = view->steps - 1, apart = (last + SL_SPREADS_MAX - 2) / (SL_SPREADS_MAX - 1);
	return k == last || apart == 0 || k % apart == 0;
}

/* Logs show the spread, but no masked state: two digits are too few for one. */
static void take_spread(struct sl_workspace *workspace, const struct sl_view *view,
			const struct sl_block *block)
{
	const int64_t *state = (const int64_t *)workspace->second;
	size_t count = block->count < SAMPLE ? block->count : SAMPLE;
	uint64_t apart =
		sl_metropolis_spread(state, count, workspace->rooms[block->worker].states, view->degree);
	double one = (double)(UINT64_C(1) << view->fraction);
	workspace->spread = sl_spectrum_two_digits(view->n * (double)apart / one);
}

static void step(struct sl_workspace *workspace, const struct sl_view *view, const struct sl_block *block,
		 uint64_t k)
{
	const struct sl_room *room = &workspace->rooms[block->worker];
	int64_t *state = (int64_t *)workspace->second + block->first;
	if (k == 0) {
		sl_state_take(workspace, view, block->first, block->count, room->s);
		sl_metropolis_open(room->s, view->fraction, block->count, state);
	}
	if (block->first == 0 && has_spread(view, k))
		take_spread(workspace, view, block);
	sl_metropolis_step(state, block->count, room->states, workspace->divisors, view->degree);
}

static uint32_t close_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	uint64_t z[SL_BLOCK_ELEMENTS];
	const struct sl_view *view = blocks->view;
	const int64_t *state = (const int64_t *)blocks->workspace->second + block->first;
	double *margin = (double *)blocks->context + block->worker;
	*margin = fmax(*margin,
		       sl_metropolis_close(&view->field, view->n, view->fraction, state, block->count, z));
	sl_state_put(blocks->workspace, view, block->first, block->count, z);
	return 0;
}

static double close_state(struct sl_workspace *workspace, const struct sl_view *view)
{
	double margins[SL_WORKERS_MAX] = {0}, margin = 0;
	struct sl_blocks blocks = {.workspace = workspace, .view = view, .context = margins};
	sl_blocks_run(&blocks, 0, view->elements, close_block);
	for (uint32_t w = 0; w < SL_WORKERS_MAX; w++)
		margin = fmax(margin, margins[w]);
	return margin;
}

const struct sl_job_mix_row sl_job_mix_metropolis = {
	.open = open_divisors,
	.adds = adds,
	.first = first,
	.step = step,
	.close = close_state,
};
