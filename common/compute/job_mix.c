#include "common/compute/job_mix.h"

#include "common/base/bytes.h"
#include "common/compute/job_mix_row.h"

static const struct sl_job_mix_row *const engines[] = {
	[SL_ENGINE_EXACT] = &sl_job_mix_exact,
	[SL_ENGINE_METROPOLIS] = &sl_job_mix_metropolis,
	[SL_ENGINE_TREE] = &sl_job_mix_tree,
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
	const struct sl_job_mix_row *engine = engines[view->engine];
	size_t count = sl_view_chunk_elements(view, chunk->index);
	if (engine->write != NULL)
		engine->write(workspace, view, chunk, out);
	else if (chunk->iteration == 0)
		memcpy(out, sl_slot_chunk(&workspace->state_file, view, view->self, chunk->index),
		       count * view->field.bytes);
	else
		sl_bytes_pack(out, workspace->s + (size_t)chunk->index * SL_CHUNK_ELEMENTS, count,
			      view->field.bytes);
}

int sl_job_mix_backup(struct sl_workspace *workspace, const struct sl_view *view, const struct sl_buffer *b)
{
	const struct sl_job_mix_row *engine = engines[view->engine];
	uint32_t position = view->neighbours[b->from];
	uint8_t *out = sl_slot_chunk(&workspace->state_file, view, position, b->index);
	size_t count = sl_view_chunk_elements(view, b->index);
	if (engine->keep == NULL)
		memcpy(out, b->bytes, count * view->field.bytes);
	else if (engine->keep(view, b->bytes, count, out) != SL_OK)
		return SL_ERR_INVALID;
	if (b->index == 0)
		memcpy(sl_slot_nonce(&workspace->state_file, position), b->nonce, SL_NONCE_BYTES);
	return SL_OK;
}

static int take(struct sl_workspace *workspace, const struct sl_view *view, const struct sl_buffer *b)
{
	workspace->states[b->from] = b->bytes;
	if (b->iteration == 0 && sl_job_mix_backup(workspace, view, b) != SL_OK)
		return SL_ERR_INVALID;
	return engines[view->engine]->take == NULL ? SL_OK : engines[view->engine]->take(workspace, view, b);
}

int sl_job_mix_step(struct sl_workspace *workspace, const struct sl_view *view, uint32_t m,
		    const struct sl_buffer *buffers, uint32_t *from)
{
	int rc = SL_OK;
	for (const struct sl_buffer *b = buffers; b != NULL && rc == SL_OK; b = b->next) {
		rc = take(workspace, view, b);
		*from = b->from;
	}
	if (rc == SL_OK && engines[view->engine]->step != NULL)
		engines[view->engine]->step(workspace, view, (size_t)m * SL_CHUNK_ELEMENTS,
					    sl_view_chunk_elements(view, m), buffers->iteration);
	return rc;
}

double sl_job_mix_close(struct sl_workspace *workspace, const struct sl_view *view)
{
	return engines[view->engine]->close == NULL ? 0 : engines[view->engine]->close(workspace, view);
}
