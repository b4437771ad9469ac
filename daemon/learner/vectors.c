#include "daemon/learner/vectors.h"

#include <sodium.h>
#include <stdlib.h>

#include "common/compute/state.h"

/* Return `memory` of `*size` bytes, or at least `need` bytes in its place; NULL: out of memory. libsodium
 * lets memory end at a page: a multiple of 8 bytes also begins aligned. */
static void *grow(void *memory, size_t *size, size_t need)
{
	if (*size >= need)
		return memory;
	sodium_free(memory);
	memory = sodium_malloc((need + 7) / 8 * 8);
	*size = memory == NULL ? 0 : need;
	return memory;
}

/* Return true if `job` begins a vector s. */
static bool begins(const struct sl_job *job)
{
	return job->kind == SL_JOB_ENCODE || job->kind == SL_JOB_SUM;
}

int sl_vectors_grow(struct sl_workspace *workspace, const struct sl_job *job)
{
	bool small = false;
	if (job->kind == SL_JOB_ANALYSE || job->kind == SL_JOB_ENCODE) {
		size_t size = workspace->scratch.size, need = sl_job_scratch(job->view);
		if (size < need) {
			void *memory = grow(workspace->scratch.base, &size, need);
			sl_arena_init(&workspace->scratch, memory, size);
			small = memory == NULL;
		}
	}
	if (begins(job)) {
		workspace->s = grow(workspace->s, &workspace->s_bytes, sl_state_bytes(job->view));
		small |= workspace->s == NULL;
	}
	if (job->kind == SL_JOB_MIX && sl_state_second(job->view) > 0) {
		size_t size = workspace->second_elements * sizeof *workspace->second;
		workspace->second = grow(workspace->second, &size,
					 sl_state_second(job->view) * sizeof *workspace->second);
		workspace->second_elements = size / sizeof *workspace->second;
		small |= workspace->second == NULL;
	}
	if (job->kind == SL_JOB_ABSORB && workspace->fetched == NULL) {
		workspace->fetched = malloc(sl_workspace_bytes(workspace));
		small = workspace->fetched == NULL;
	}
	return small ? SL_ERR_NOMEM : SL_OK;
}

void sl_vectors_shrink(struct sl_workspace *workspace, const struct sl_job *job)
{
	if (job->kind == SL_JOB_ABSORB)
		return;
	free(workspace->fetched);
	workspace->fetched = NULL;
}

void sl_vectors_free(struct sl_workspace *workspace)
{
	sodium_free(workspace->s);
	sodium_free(workspace->second);
	sodium_free(workspace->scratch.base);
	free(workspace->fetched);
}
