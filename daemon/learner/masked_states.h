/* masked_states.h - the state files that hold deposits: of the attempt under way, and a spare one for reuse.
 *
 * Owns both files. The functions run on the compute worker, or before it starts.
 */
#pragma once

#include "common/compute/job.h"
#include "daemon/store/state_file.h"

struct sl_masked_states {
	const char *folder;	      /* the state folder */
	struct sl_state_file current; /* of the attempt under way; the workspace's slots lie in it */
	struct sl_state_file spare;   /* of no use any more, its disk space is reused */
};

/* Open a state file for attempt `a` of round `t` and let `workspace` use its slots. The file of an earlier
 * attempt is removed. */
int sl_masked_states_open(struct sl_masked_states *states, struct sl_workspace *workspace, sl_round t,
			  sl_attempt a, uint32_t slots, size_t slot_bytes, struct sl_error *error);
/* Make sure that the slots which `job` writes exist on disk: a full disk is an error here, not a signal in
 * the job. */
int sl_masked_states_reserve(struct sl_masked_states *states, struct sl_workspace *workspace,
			     const struct sl_job *job, struct sl_error *error);
/* End the attempt: its file becomes the spare one. */
void sl_masked_states_end(struct sl_masked_states *states, struct sl_workspace *workspace);
/* Close the files; the spare one is removed. */
void sl_masked_states_close(struct sl_masked_states *states);
