/* masked_states.h - the state files that hold masked states: of the attempt under way, of the last committed
 * round, and a spare one for reuse.
 *
 * Owns the three files. The functions run on the compute worker, or before it starts.
 */
#pragma once

#include "common/compute/job.h"
#include "daemon/store/state_file.h"
#include "daemon/store/store.h"

struct sl_masked_states {
	const char *folder;		/* the state folder */
	struct sl_state_file current;	/* of the attempt under way; the workspace's slots lie in it */
	struct sl_state_file committed; /* of the last committed round */
	struct sl_state_file spare;	/* of no use any more, its disk space is reused */
};

/* Open a state file for attempt `a` of round `t` and let `workspace` use its slots. The file of an earlier
 * attempt is removed. */
int sl_masked_states_open(struct sl_masked_states *states, struct sl_workspace *workspace, sl_round t,
			  sl_attempt a, uint32_t slots, size_t slot_bytes, struct sl_error *error);
/* Make sure that the slots which `job` writes exist on disk: a full disk is an error here, not a signal in
 * the job. */
int sl_masked_states_reserve(struct sl_masked_states *states, struct sl_workspace *workspace,
			     const struct sl_job *job, struct sl_error *error);
/* End the attempt. Its file is kept if `last` is its round and attempt, until the next round has committed;
 * otherwise it is removed. */
void sl_masked_states_end(struct sl_masked_states *states, struct sl_workspace *workspace,
			  const struct sl_store_round *last);
/* Return true if the file of attempt `a` of round `t` must stay when round `committed` is committed. */
bool sl_masked_states_wanted(const struct sl_masked_states *states, sl_round committed, sl_round t,
			     sl_attempt a);
/* Close the files; the spare one is removed. */
void sl_masked_states_close(struct sl_masked_states *states);
