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

static int room_for_neighbours(struct sl_daemon *daemon, const struct sl_job *job, struct sl_error *error)
{
	int rc = SL_OK;
	for (const struct sl_buffer *b = job->buffers; b != NULL && rc == SL_OK; b = b->next)
		if (b->iteration == 0)
			rc = sl_state_file_reserve(&daemon->state_file, job->view->neighbours[b->from],
						   error);
	return rc;
}

int sl_masked_states_room(struct sl_daemon *daemon, const struct sl_job *job, struct sl_error *error)
{
	const struct sl_view *view = job->view;
	switch (job->kind) {
	case SL_JOB_ENCODE:
		return sl_masked_states_open(daemon, view->t, view->a, view->n, sl_slot_bytes(view), error);
	case SL_JOB_COMMITMENT:
		return sl_state_file_reserve(&daemon->state_file, view->self, error);
	case SL_JOB_MIX:
	case SL_JOB_BACKUP:
		return room_for_neighbours(daemon, job, error);
	case SL_JOB_CHECK: /* read through the map: on a full disk, a hole may be a SIGBUS */
		return sl_state_file_reserve(&daemon->state_file, job->chunk, error);
	case SL_JOB_FETCH:
		return sl_state_file_reserve(&daemon->state_file, job->buffers->from, error);
	default:
		return SL_OK;
	}
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

/* ---- on the loop's thread; the worker does not write a slot that is sent ---- */

void sl_masked_states_nonce(const struct sl_daemon *daemon, struct sl_message *m)
{
	const struct sl_view *view = daemon->workspace_view;
	int origin = m->kind == SL_MSG_MASKED ? sl_roster_find(&daemon->roster, m->chunk.origin)
					      : (int)daemon->self;
	if (sl_message_nonce_due(m->kind, &m->chunk))
		memcpy(m->chunk.nonce, sl_slot_nonce(&daemon->workspace.state_file, view->position[origin]),
		       SL_NONCE_BYTES);
}

const uint8_t *sl_masked_states_payload(const struct sl_daemon *daemon, const struct sl_message *m)
{
	const struct sl_view *view = daemon->workspace_view;
	int origin = sl_roster_find(&daemon->roster, m->chunk.origin);
	return sl_slot_chunk(&daemon->workspace.state_file, view, view->position[origin], m->chunk.index);
}
