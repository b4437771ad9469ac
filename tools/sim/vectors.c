#include "tools/sim/vectors.h"

#include <stdlib.h>

#include "common/base/bytes.h"
#include "common/base/random.h"

static void random_bytes(void *context, uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)sl_random_next(context);
}

int sl_sim_vectors_open(struct sl_workspace *workspace, size_t n, uint64_t *random)
{
	*workspace = (struct sl_workspace){.n = n,
					   .weight = 1,
					   .source = random_bytes,
					   .source_context = random,
					   .trained = calloc(n, sizeof(float)),
					   .committed = calloc(n, sizeof(float)),
					   .x = calloc(n + 1, sizeof(uint64_t)),
					   .s = calloc(n + 1, sizeof(uint64_t))};
	bool whole = workspace->trained != NULL && workspace->committed != NULL && workspace->x != NULL &&
		     workspace->s != NULL;
	return whole ? SL_OK : SL_ERR_NOMEM;
}

void sl_sim_vectors_close(struct sl_workspace *workspace)
{
	void *owned[] = {workspace->trained, workspace->committed,    workspace->x,
			 workspace->s,	     workspace->scratch.base, workspace->state_file.base};
	for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
		free(owned[k]);
}

/* Memory cannot be refused in the middle of an attempt. */
static void *insist(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

static void end_state_file(struct sl_workspace *workspace)
{
	free(workspace->state_file.base);
	workspace->state_file.base = NULL;
}

void sl_sim_vectors_prepare(struct sl_workspace *workspace, const struct sl_job *job)
{
	if (job->kind == SL_JOB_ANALYSE || job->kind == SL_JOB_ENCODE) {
		size_t need = sl_job_scratch(job->view);
		if (workspace->scratch.size < need) {
			free(workspace->scratch.base);
			sl_arena_init(&workspace->scratch, insist(malloc(need)), need);
		}
	}
	if (job->kind == SL_JOB_ENCODE) {
		size_t bytes = sl_slot_bytes(job->view);
		end_state_file(workspace);
		workspace->state_file =
			(struct sl_slots){.base = insist(calloc(job->view->n, bytes)), .slot_bytes = bytes};
	}
}

void sl_sim_vectors_wipe(struct sl_workspace *workspace)
{
	sl_job_wipe(workspace);
	end_state_file(workspace);
}

uint32_t sl_sim_vectors_width(uint64_t p)
{
	return (uint32_t)(64 - __builtin_clzll(p) + 7) / 8;
}

uint8_t *sl_sim_vectors_pack(const struct sl_workspace *workspace, uint64_t p)
{
	uint8_t *packed = insist(malloc((workspace->n + 1) * sl_sim_vectors_width(p)));
	sl_bytes_pack(packed, workspace->s, workspace->n + 1, sl_sim_vectors_width(p));
	return packed;
}
