/* metropolis (ROUND.md §8.2 metropolis): from the first MIX of a chunk on, workspace->second is X = s <<
 * f, as int64; CLOSE makes Z of it, in s. */
#include <math.h>
#include <string.h>

#include "common/compute/job_mix_row.h"
#include "common/compute/state.h"
#include "common/field/vector.h"
#include "common/mixing/spectrum.h"

#define BLOCK 1024u /* elements on the stack */
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
	int64_t state[BLOCK];
	for (size_t at = 0; at < count; at += BLOCK) {
		size_t n = count - at < BLOCK ? count - at : BLOCK;
		sl_metropolis_open(s + at, view->fraction, n, state);
		memcpy(out + at * SL_STATE_BYTES, state, n * SL_STATE_BYTES);
	}
}

/* Return true if the spread is taken after `k` exchanges: evenly, SL_SPREADS_MAX times at most, the first and
 * the last exchange among them. */
static bool has_spread(const struct sl_view *view, uint64_t k)
{
	uint64_t last = view->steps - 1, apart = (last + SL_SPREADS_MAX - 2) / (SL_SPREADS_MAX - 1);
	return k == last || apart == 0 || k % apart == 0;
}

/* Logs show the spread, but no masked state: two digits are too few for one. */
static void take_spread(struct sl_workspace *workspace, const struct sl_view *view, size_t count)
{
	const int64_t *state = (const int64_t *)workspace->second;
	uint64_t apart =
		sl_metropolis_spread(state, count < SAMPLE ? count : SAMPLE, workspace->states, view->degree);
	double one = (double)(UINT64_C(1) << view->fraction);
	workspace->spread = sl_spectrum_two_digits(view->n * (double)apart / one);
}

static void step(struct sl_workspace *workspace, const struct sl_view *view, size_t at, size_t count,
		 uint64_t k)
{
	int64_t *state = (int64_t *)workspace->second + at;
	if (k == 0) {
		uint64_t s[SL_JOB_MIX_BLOCK];
		sl_vector_unpack(&view->field, sl_state_at(workspace, view, at), count, s);
		sl_metropolis_open(s, view->fraction, count, state);
	}
	if (at == 0 && has_spread(view, k))
		take_spread(workspace, view, count);
	sl_metropolis_step(state, count, workspace->states, workspace->divisors, view->degree);
}

static double close_state(struct sl_workspace *workspace, const struct sl_view *view)
{
	const int64_t *state = (const int64_t *)workspace->second;
	double margin = 0;
	for (uint32_t m = 0; m < view->chunks; m++) {
		size_t first = (size_t)m * SL_CHUNK_ELEMENTS, count = sl_view_chunk_elements(view, m);
		margin =
			fmax(margin, sl_metropolis_close(&view->field, view->n, view->fraction, state + first,
							 count, sl_state_chunk(workspace, view)));
		sl_state_put(workspace, view, first, count);
	}
	return margin;
}

const struct sl_job_mix_row sl_job_mix_metropolis = {
	.open = open_divisors,
	.adds = adds,
	.first = first,
	.step = step,
	.close = close_state,
};
