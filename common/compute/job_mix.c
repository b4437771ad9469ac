#include "common/compute/job_mix.h"

#include "common/base/bytes.h"
#include "common/compute/job_deposit.h"
#include "common/compute/job_mix_row.h"
#include "common/compute/state.h"

#define BLOCK SL_JOB_MIX_BLOCK

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

static int add_deposits(struct sl_workspace *workspace, const struct sl_job *job, uint32_t *from)
{
	const struct sl_view *view = job->view;
	size_t first = (size_t)job->chunk * SL_CHUNK_ELEMENTS,
	       count = sl_view_chunk_elements(view, job->chunk);
	uint64_t *s = sl_state_take(workspace, view, first, count);
	int rc = SL_OK;
	for (uint32_t r = 0; rc == SL_OK && r < view->degree; r++) {
		uint32_t position = view->neighbours[r];
		rc = sl_job_deposit_add(workspace, view, position, job->keys[position], job->chunk, s);
		*from = r;
	}
	if (rc == SL_OK)
		sl_state_put(workspace, view, first, count);
	return rc;
}

/* Make row `r` the next `count` elements of the first state of neighbour `r`. */
static int unmask_row(struct sl_workspace *workspace, const struct sl_view *view, uint32_t r, size_t at,
		      size_t count)
{
	uint64_t s[BLOCK];
	uint8_t *row = (uint8_t *)workspace->rows[r];
	const uint8_t *deposit = sl_slot_state(&workspace->state_file, view->neighbours[r]) +
				 sl_packed_bytes(at, view->field.bits);
	int rc = sl_job_deposit_unmask(&workspace->theirs[r], &view->field, deposit, count, s);
	if (rc != SL_OK)
		return rc;
	if (engines[view->engine]->first != NULL)
		engines[view->engine]->first(view, s, count, row);
	else
		sl_bytes_pack(row, s, count, view->field.bits);
	workspace->states[r] = row;
	return SL_OK;
}

/* Take the first exchange of a chunk, block by block. */
static int mix_deposits(struct sl_workspace *workspace, const struct sl_job *job, uint32_t *from)
{
	const struct sl_view *view = job->view;
	size_t first = (size_t)job->chunk * SL_CHUNK_ELEMENTS,
	       count = sl_view_chunk_elements(view, job->chunk);
	int rc = SL_OK;
	for (uint32_t r = 0; r < view->degree; r++)
		sl_job_deposit_open(&workspace->theirs[r], job->keys[view->neighbours[r]], job->chunk);
	for (size_t at = 0; rc == SL_OK && at < count; at += BLOCK) {
		size_t n = count - at < BLOCK ? count - at : BLOCK;
		for (uint32_t r = 0; rc == SL_OK && r < view->degree; r++) {
			rc = unmask_row(workspace, view, r, first + at, n);
			*from = r;
		}
		if (rc == SL_OK)
			engines[view->engine]->step(workspace, view, first + at, n, 0);
	}
	for (uint32_t r = 0; r < view->degree; r++) {
		sl_prg_close(&workspace->theirs[r]);
		sl_slot_used(&workspace->state_file,
			     sl_slot_chunk(&workspace->state_file, view, view->neighbours[r], job->chunk),
			     sl_packed_bytes(count, view->field.bits));
	}
	return rc;
}

/* --- later states --- */

static int take(struct sl_workspace *workspace, const struct sl_view *view, const struct sl_buffer *b)
{
	workspace->states[b->from] = b->bytes;
	return engines[view->engine]->take == NULL ? SL_OK : engines[view->engine]->take(workspace, view, b);
}

/* Make the next state of the chunk, block by block. */
static void step_blocks(struct sl_workspace *workspace, const struct sl_job *job)
{
	const struct sl_view *view = job->view;
	size_t first = (size_t)job->chunk * view->state_elements,
	       count = sl_view_state_elements(view, job->chunk);
	for (size_t at = 0; at < count; at += BLOCK) {
		size_t n = count - at < BLOCK ? count - at : BLOCK;
		engines[view->engine]->step(workspace, view, first + at, n, job->iteration);
		for (uint32_t r = 0; r < view->degree; r++)
			workspace->states[r] += sl_packed_bytes(n, sl_view_mixing_bits(view));
	}
}

static int mix_buffers(struct sl_workspace *workspace, const struct sl_job *job, uint32_t *from)
{
	const struct sl_view *view = job->view;
	int rc = SL_OK;
	for (const struct sl_buffer *b = job->buffers; b != NULL && rc == SL_OK; b = b->next) {
		rc = take(workspace, view, b);
		*from = b->from;
	}
	if (rc == SL_OK && engines[view->engine]->step != NULL)
		step_blocks(workspace, job);
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
		return mix_deposits(workspace, job, from);
	int rc = add_deposits(workspace, job, from);
	return rc == SL_OK ? mix_buffers(workspace, job, from) : rc;
}

double sl_job_mix_close(struct sl_workspace *workspace, const struct sl_view *view)
{
	return engines[view->engine]->close == NULL ? 0 : engines[view->engine]->close(workspace, view);
}
