#include "common/compute/job_mix.h"

#include "common/base/bytes.h"
#include "common/compute/blocks.h"
#include "common/compute/job_deposit.h"
#include "common/compute/job_mix_row.h"
#include "common/compute/state.h"

static const struct sl_job_mix_row *const engines[] = {
	[SL_ENGINE_EXACT] = &sl_job_mix_exact,
	[SL_ENGINE_METROPOLIS] = &sl_job_mix_metropolis,
	[SL_ENGINE_FOREST] = &sl_job_mix_forest,
	[SL_ENGINE_AUTO] = &sl_job_mix_exact, /* a view from disk: its masked states are over Z_p */
};
static_assert(sizeof engines / sizeof *engines == SL_ENGINES + 1, "the arithmetic of each engine");

int sl_job_mix_open(struct sl_workspace *workspace, const struct sl_view *view)
{
	int rc = SL_OK;
	workspace->states = SL_ARENA_TAKE(&workspace->scratch, view->degree, const uint8_t *);
	for (enum sl_engine e = 0; rc == SL_OK && e < SL_ENGINES; e++)
		if (engines[e]->open != NULL)
			rc = engines[e]->open(workspace, view);
	return workspace->states == NULL ? SL_ERR_NOMEM : rc;
}

void sl_job_mix_write(const struct sl_workspace *workspace, const struct sl_view *view,
		      const struct sl_chunk *chunk, uint8_t *out)
{
	size_t first = (size_t)chunk->index * view->state_elements,
	       count = sl_view_state_elements(view, chunk->index);
	if (sl_engine_rows[view->engine].rounds)
		memcpy(out, workspace->second + first, count * SL_STATE_BYTES);
	else
		memcpy(out, sl_state_at(workspace, view, first), sl_packed_bytes(count, view->field.bits));
}

/* --- first states: deposits without their masks --- */

/* Make row `r` a block of the first state of neighbour `r`. */
static bool unmask_row(const struct sl_blocks *blocks, const struct sl_block *block, uint32_t r)
{
	const struct sl_view *view = blocks->view;
	const struct sl_room *room = &blocks->workspace->rooms[block->worker];
	uint8_t *row = (uint8_t *)room->rows[r];
	if (!sl_job_deposit_unmask(blocks, block, view->neighbours[r], room->s, false))
		return false;
	if (engines[view->engine]->first != NULL)
		engines[view->engine]->first(view, room->s, block->count, row);
	else
		sl_bytes_pack(row, room->s, block->count, view->field.bits);
	room->states[r] = row;
	return true;
}

/* Take the first exchange of a block. */
static uint32_t mix_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	for (uint32_t r = 0; r < blocks->view->degree; r++)
		if (!unmask_row(blocks, block, r))
			return 1 + r;
	engines[blocks->view->engine]->step(blocks->workspace, blocks->view, block, 0);
	return 0;
}

/* Add a block of all deposits to s. */
static uint32_t add_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	const struct sl_view *view = blocks->view;
	uint64_t *s = blocks->workspace->rooms[block->worker].s;
	sl_state_take(blocks->workspace, view, block->first, block->count, s);
	for (uint32_t r = 0; r < view->degree; r++)
		if (!sl_job_deposit_unmask(blocks, block, view->neighbours[r], s, true))
			return 1 + r;
	sl_state_put(blocks->workspace, view, block->first, block->count, s);
	return 0;
}

static int run_deposits(struct sl_workspace *workspace, const struct sl_job *job, sl_block_run run,
			uint32_t *from)
{
	const struct sl_view *view = job->view;
	struct sl_blocks blocks = {.workspace = workspace, .view = view, .job = job};
	uint32_t failed = sl_blocks_run_chunk(&blocks, job->chunk, run);
	for (uint32_t r = 0; r < view->degree; r++)
		sl_job_deposit_used(workspace, view, view->neighbours[r], job->chunk);
	*from = failed - 1;
	return failed == 0 ? SL_OK : SL_ERR_INVALID;
}

/* --- later states --- */

static int take(struct sl_workspace *workspace, const struct sl_view *view, struct sl_buffer *b)
{
	workspace->states[b->from] = b->bytes;
	return engines[view->engine]->take == NULL ? SL_OK : engines[view->engine]->take(workspace, view, b);
}

/* Make a block of the next state. */
static uint32_t step_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	const struct sl_view *view = blocks->view;
	size_t at = block->first - (size_t)blocks->job->chunk * view->state_elements;
	for (uint32_t r = 0; r < view->degree; r++) {
		const uint8_t *state = blocks->workspace->states[r]; /* NULL: not needed */
		blocks->workspace->rooms[block->worker].states[r] =
			state == NULL ? NULL : state + sl_packed_bytes(at, sl_view_mixing_bits(view));
	}
	engines[view->engine]->step(blocks->workspace, view, block, blocks->job->iteration);
	return 0;
}

static int mix_buffers(struct sl_workspace *workspace, const struct sl_job *job, uint32_t *from)
{
	const struct sl_view *view = job->view;
	struct sl_blocks blocks = {.workspace = workspace, .view = view, .job = job};
	int rc = SL_OK;
	for (struct sl_buffer *b = job->buffers; b != NULL && rc == SL_OK; b = b->next) {
		rc = take(workspace, view, b);
		*from = b->from;
	}
	if (rc == SL_OK && engines[view->engine]->step != NULL)
		sl_blocks_run(&blocks, (size_t)job->chunk * view->state_elements,
			      sl_view_state_elements(view, job->chunk), step_block);
	return rc;
}

/* Return true if this exchange has the deposits of neighbours. */
static bool has_deposits(const struct sl_job *job)
{
	return sl_engine_rows[job->view->engine].to_all && job->iteration == 0;
}

int sl_job_mix_step(struct sl_workspace *workspace, const struct sl_job *job, uint32_t *from)
{
	const struct sl_job_mix_row *engine = engines[job->view->engine];
	if (!has_deposits(job))
		return mix_buffers(workspace, job, from);
	if (engine->adds != NULL && !engine->adds(job->view))
		return run_deposits(workspace, job, mix_block, from);
	int rc = run_deposits(workspace, job, add_block, from);
	return rc == SL_OK ? mix_buffers(workspace, job, from) : rc;
}

double sl_job_mix_close(struct sl_workspace *workspace, const struct sl_view *view)
{
	return engines[view->engine]->close == NULL ? 0 : engines[view->engine]->close(workspace, view);
}
