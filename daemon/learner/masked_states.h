/* masked_states.h - the state file that holds deposits: of the attempt under way, or spare, for reuse.
 *
 * Owns the file. The functions run on the compute worker, or before it starts.
 */
#pragma once

#include "common/compute/job.h"
#include "daemon/store/state_file.h"

struct sl_masked_states {
	const char *folder;	      /* the state folder */
	struct sl_state_file current; /* of the attempt under way; the workspace's slots lie in it */
	struct sl_state_file spare;   /* of no use any more, its disk space is reused */
	uint32_t own;		      /* position of this learner, whose slot is the first */
	size_t begun;		      /* bytes of the own slot that the kernel has begun to write */
};

/* Open the state file for the attempt of `view`, of which only size, elements and self are read, and
 * let `workspace` use its slots. An earlier attempt is ended. */
int sl_masked_states_open(struct sl_masked_states *states, struct sl_workspace *workspace,
			  const struct sl_view *view, struct sl_error *error);
/* Make sure that the slots which `job` writes exist on disk: a full disk is an error here, not a signal in
 * the job. */
int sl_masked_states_reserve(struct sl_masked_states *states, struct sl_workspace *workspace,
			     const struct sl_job *job, struct sl_error *error);
/* After `job`: begin to write the own slot to disk while the rest of it is made and sent, so that the record
 * PREPARED waits for the last part only. */
void sl_masked_states_made(struct sl_masked_states *states, const struct sl_job *job);
/* End the attempt: its file becomes the spare one. */
void sl_masked_states_end(struct sl_masked_states *states, struct sl_workspace *workspace);
/* Close the files. The store removes them when no attempt is open (seal.h). */
void sl_masked_states_close(struct sl_masked_states *states);
