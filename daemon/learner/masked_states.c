/* The masked states of the attempt under way (protocol 6): their spool opened, room made before a job writes
 * into it, and what of them is sent. */
#include <string.h>

#include "common/base/bytes.h"
#include "daemon/learner/daemon.h"

/* Out of the spare one, if that is alike. */
static int open_state_file(struct sl_daemon *daemon, sl_round t, sl_attempt a, uint32_t slots,
			   size_t slot_bytes, struct sl_error *error)
{
	if (daemon->spare.slots != slots || daemon->spare.slot_bytes != slot_bytes) {
		sl_state_file_remove(&daemon->spare);
		return sl_state_file_open(&daemon->state_file, daemon->settings->state, t, a, slots,
					  slot_bytes, error);
	}
	daemon->state_file = daemon->spare;
	daemon->spare = (struct sl_state_file){0};
	return sl_state_file_reuse(&daemon->state_file, t, a, error);
}

int sl_masked_states_open(struct sl_daemon *daemon, sl_round t, sl_attempt a, uint32_t slots,
			  size_t slot_bytes, struct sl_error *error)
{
	sl_state_file_remove(&daemon->state_file); /* of an attempt that came to nothing */
	int rc = open_state_file(daemon, t, a, slots, slot_bytes, error);
	daemon->workspace.state_file =
		(struct sl_slots){.base = daemon->state_file.base, .slot_bytes = slot_bytes};
	return rc;
}

static int reserve(void *context, uint32_t position, struct sl_error *error)
{
	struct sl_daemon *daemon = context;
	return sl_state_file_reserve(&daemon->state_file, position, error);
}

int sl_masked_states_room(struct sl_daemon *daemon, const struct sl_job *job, struct sl_error *error)
{
	const struct sl_view *view = job->view;
	if (job->kind == SL_JOB_ENCODE)
		return sl_masked_states_open(daemon, view->t, view->a, view->n, sl_slot_bytes(view), error);
	return sl_job_slots(job, reserve, daemon, error);
}

static bool is_of(const struct sl_state_file *state_file, sl_round t, sl_attempt a)
{
	return t == state_file->t && a == state_file->a;
}

bool sl_masked_states_wanted(const struct sl_daemon *daemon, sl_round committed, sl_round t, sl_attempt a)
{
	return t >= committed || is_of(&daemon->kept, t, a) || is_of(&daemon->spare, t, a);
}

/* Those of a committed round stay until the next has committed; then the file is at hand for another one. */
void sl_masked_states_end(struct sl_daemon *daemon)
{
	struct sl_store_round last = {0};
	sl_store_last_round(daemon->store, &last, NULL);
	daemon->workspace.state_file = (struct sl_slots){0};
	if (!is_of(&daemon->state_file, last.t, last.a)) {
		sl_state_file_remove(&daemon->state_file);
		return;
	}
	sl_state_file_remove(&daemon->spare);
	daemon->spare = daemon->kept;
	daemon->kept = daemon->state_file;
	daemon->state_file = (struct sl_state_file){0};
}
