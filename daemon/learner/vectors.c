#include "daemon/learner/vectors.h"

#include <sodium.h>

#include "common/compute/blocks.h"
#include "common/compute/state.h"
#include "daemon/runtime/vector_memory.h"

/* Return `memory` of `*size` bytes, or at least `need` bytes in its place; NULL: out of memory. */
static void *grow(const char *folder, void *memory, size_t *size, size_t need)
{
	if (memory != NULL && *size >= need)
		return memory;
	sl_vector_memory_free(memory, *size);
	memory = sl_vector_memory(folder, need);
	*size = memory == NULL ? 0 : need;
	return memory;
}

/* Make the scratch larger; false: out of memory. It has keys and shares: it is never on a disk (ROUND.md
 * §5.3 Randomness that is used). */
static bool grow_scratch(struct sl_arena *scratch, size_t need)
{
	if (scratch->size >= need)
		return true;
	sodium_free(scratch->base);
	void *memory = sodium_malloc((need + 7) / 8 * 8);
	sl_arena_init(scratch, memory, memory == NULL ? 0 : need);
	return memory != NULL;
}

int sl_vectors_open(struct sl_workspace *workspace, const char *folder)
{
	size_t bytes = sl_workspace_model_bytes(workspace);
	bool ranges = workspace->ranges.count > 0;
	workspace->trained = sl_vector_memory(folder, bytes);
	workspace->committed = sl_vector_memory(folder, sl_workspace_bytes(workspace));
	workspace->rest = ranges ? sl_vector_memory(folder, bytes) : NULL;
	return workspace->trained != NULL && workspace->committed != NULL &&
			       (workspace->rest != NULL || !ranges)
		       ? SL_OK
		       : SL_ERR_NOMEM;
}

/* Return true if `job` begins a vector s. */
static bool begins(const struct sl_job *job)
{
	return job->kind == SL_JOB_ENCODE || job->kind == SL_JOB_SUM;
}

int sl_vectors_grow(struct sl_workspace *workspace, const char *folder, const struct sl_job *job)
{
	bool small = false;
	if (job->kind == SL_JOB_ANALYSE || job->kind == SL_JOB_ENCODE)
		small = !grow_scratch(&workspace->scratch, sl_job_scratch(job->view, sl_workers(workspace)));
	if (begins(job)) {
		workspace->s = grow(folder, workspace->s, &workspace->s_bytes, sl_state_packed(job->view));
		small |= workspace->s == NULL;
	}
	if (job->kind == SL_JOB_MIX && sl_state_second(job->view) > 0) {
		size_t size = workspace->second_elements * sizeof *workspace->second;
		workspace->second = grow(folder, workspace->second, &size,
					 sl_state_second(job->view) * sizeof *workspace->second);
		workspace->second_elements = size / sizeof *workspace->second;
		small |= workspace->second == NULL;
	}
	if (job->kind == SL_JOB_ABSORB && workspace->fetched == NULL) {
		workspace->fetched = sl_vector_memory(folder, sl_workspace_bytes(workspace));
		small = workspace->fetched == NULL;
	}
	return small ? SL_ERR_NOMEM : SL_OK;
}

int sl_vectors_train(struct sl_workspace *workspace, const char *folder)
{
	if (workspace->trained == NULL)
		workspace->trained = sl_vector_memory(folder, sl_workspace_model_bytes(workspace));
	return workspace->trained != NULL ? SL_OK : SL_ERR_NOMEM;
}

/* Free a large vector, so that its room on the disk is there for others. */
static void *drop(void *memory, size_t size)
{
	if (!sl_vector_memory_paged(size))
		return memory;
	sl_vector_memory_free(memory, size);
	return NULL;
}

static void drop_decided(struct sl_workspace *workspace)
{
	workspace->trained = drop(workspace->trained, sl_workspace_model_bytes(workspace));
	workspace->s = drop(workspace->s, workspace->s_bytes);
	workspace->second = drop(workspace->second, workspace->second_elements * sizeof *workspace->second);
}

void sl_vectors_shrink(struct sl_workspace *workspace, const struct sl_job *job)
{
	if (job->kind == SL_JOB_ACCEPT)
		drop_decided(workspace);
	if (job->kind == SL_JOB_ABSORB)
		return;
	sl_vector_memory_free(workspace->fetched, sl_workspace_bytes(workspace));
	workspace->fetched = NULL;
}

void sl_vectors_free(struct sl_workspace *workspace)
{
	sl_vector_memory_free(workspace->s, workspace->s_bytes);
	sl_vector_memory_free(workspace->second, workspace->second_elements * sizeof *workspace->second);
	sodium_free(workspace->scratch.base);
	sl_vector_memory_free(workspace->fetched, sl_workspace_bytes(workspace));
	sl_vector_memory_free(workspace->trained, sl_workspace_model_bytes(workspace));
	sl_vector_memory_free(workspace->committed, sl_workspace_bytes(workspace));
	sl_vector_memory_free(workspace->rest, sl_workspace_model_bytes(workspace));
}
