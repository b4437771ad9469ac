#include "daemon/learner/masked_states.h"

#include "common/base/bytes.h"
#include "daemon/runtime/pages.h"

#define PAGE_BYTES 4096u
#define WRITE_OUT_BYTES (1u << 20) /* of the own slot, at a time */

/* Open the current file: the spare one if its shape fits, otherwise a new one. */
static int open_current(struct sl_masked_states *states, uint32_t slots, size_t slot_bytes,
			struct sl_error *error)
{
	if (states->spare.slots != slots || states->spare.slot_bytes != slot_bytes) {
		sl_state_file_close(&states->spare);
		return sl_state_file_open(&states->current, states->folder, slots, slot_bytes, error);
	}
	states->current = states->spare;
	states->spare = (struct sl_state_file){0};
	return SL_OK;
}

int sl_masked_states_open(struct sl_masked_states *states, struct sl_workspace *workspace,
			  const struct sl_view *view, struct sl_error *error)
{
	sl_masked_states_end(states, workspace); /* an aborted attempt */
	size_t slot_bytes = sl_slot_bytes(view);
	int rc = open_current(states, view->n, slot_bytes, error);
	states->own = view->self;
	states->begun = 0;
	workspace->state_file =
		(struct sl_slots){.base = states->current.base,
				  .slot_bytes = slot_bytes,
				  .first = states->own,
				  .used = slot_bytes < SL_SLOT_USED_BYTES ? NULL : sl_pages_release};
	return rc;
}

static int reserve(void *context, uint32_t position, struct sl_error *error)
{
	struct sl_masked_states *states = context;
	return sl_state_file_reserve(&states->current, sl_slot_of(states->own, position), error);
}

int sl_masked_states_reserve(struct sl_masked_states *states, struct sl_workspace *workspace,
			     const struct sl_job *job, struct sl_error *error)
{
	const struct sl_view *view = job->view;
	if (job->kind == SL_JOB_ENCODE)
		return sl_masked_states_open(states, workspace, view, error);
	return sl_job_slots(job, reserve, states, error);
}

/* Whole pages only: one that is written again would have to wait for its first writing. */
void sl_masked_states_made(struct sl_masked_states *states, const struct sl_job *job)
{
	if (job->kind != SL_JOB_DEPOSIT)
		return;
	bool last = job->chunk + 1 == job->view->chunks;
	size_t elements =
		       (size_t)job->chunk * SL_CHUNK_ELEMENTS + sl_view_chunk_elements(job->view, job->chunk),
	       through = sl_packed_bytes(elements, job->view->field.bits) / PAGE_BYTES * PAGE_BYTES;
	if (last ? through == states->begun : through < states->begun + WRITE_OUT_BYTES)
		return;
	sl_state_file_write_out(&states->current, states->begun, through);
	states->begun = through;
}

void sl_masked_states_end(struct sl_masked_states *states, struct sl_workspace *workspace)
{
	workspace->state_file = (struct sl_slots){0};
	if (states->current.slots == 0)
		return;
	sl_state_file_close(&states->spare);
	states->spare = states->current;
	states->current = (struct sl_state_file){0};
}

void sl_masked_states_close(struct sl_masked_states *states)
{
	sl_state_file_close(&states->current);
	sl_state_file_close(&states->spare);
}
