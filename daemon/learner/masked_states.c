#include "daemon/learner/masked_states.h"

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
	workspace->state_file = (struct sl_slots){
		.base = states->current.base, .slot_bytes = slot_bytes, .first = states->own};
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
