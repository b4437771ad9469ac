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
};

/* Open the state file for the attempt of `view`, of which only size and elements are read, and let
 * `workspace` use its slots. An earlier attempt is ended. */
int sl_masked_states_open(struct sl_masked_states *states, struct sl_workspace *workspace,
			  const struct sl_view *view, struct sl_error *error);
/* Make sure that the slots which `job` writes exist on disk: a full disk is an error here, not a signal in
 * the job. */
int sl_masked_states_reserve(struct sl_masked_states *states, struct sl_workspace *workspace,
			     const struct sl_job *job, struct sl_error *error);
/* End the attempt: its file becomes the spare one. */
void sl_masked_states_end(struct sl_masked_states *states, struct sl_workspace *workspace);
/* Erase the key of the secrets, when their attempt is over or its round committed. */
void sl_masked_states_erase_key(struct sl_masked_states *states);
/* Close the files; the spare one is removed. */
void sl_masked_states_close(struct sl_masked_states *states);
