/* job.h - the slow work of an attempt, cut into jobs over one learner's vectors (workspace.h). The shell runs
 * them on a worker thread.
 *
 *   job        input                             output
 *   ANALYSE    graph of the view, c              analysis for the privacy check and for mixing
 *   ENCODE     model, weight                     check of the model, fresh streams; seeded: the seeds
 *   SECRETS    neighbours' ids                   deposit key, challenge, key shares of the key, their root
 *   SHARE m    model, weight                     the neighbours' shares of chunk m; s += own share
 *   GATHER     neighbours' shares                s += share; seeded: their streams
 *   EXPAND m   neighbours' streams               s += stream
 *   DEPOSIT m  s, the own deposit key            chunk m of the own slot: s + mask
 *   COMMITMENT own slot                          its hash; shares and streams are wiped
 *   MIX m      s, slots and keys of neighbours,  next state; of metropolis, the spread at times
 *              or their states
 *   CLOSE      last state, committed model       Z, its strands, D of the decoded model, margin, total
 *                                                weight, or SL_ERR_INVALID
 *   CHECKSUM   slots, keys, Z, seed of the points  checksums of the own and the kept masked states, and of Z
 *   FETCH      chunk of a deposit                slot of its owner
 *   CHECK i    slot i                            SL_OK if it has the expected hash
 *   SUM        all slots, all keys               as CLOSE
 *   ACCEPT     Z, committed model                committed model: Z, decoded once more
 *   ABSORB     a peer's chunks of a model        fetched model                                  \ CATCHUP
 *   ADOPT      fetched model, D                  committed model, if D is its digest            /
 *
 * Jobs of one learner run one at a time, in the order given; the workers of a team share the blocks of each
 * (blocks.h). The model stays as it is from ENCODE to the last SHARE: it is encoded a second time, which
 * takes less memory than the encoding. A job that is of no use any more ends between two blocks, or pieces of
 * a hash (workspace.wipes); only what is one call, such as the hash of a deposit, is made as a whole. Nothing
 * here allocates, reads a clock or does I/O; random bytes come from the workspace's key source.
 */
#pragma once

#include "common/compute/job_types.h"

/* Call `touch` for each slot that `job` writes or reads, until it returns an error: before the job runs,
 * memory behind the slots must be there. Return that error or SL_OK. */
int sl_job_slots(const struct sl_job *job,
		 int (*touch)(void *context, uint32_t position, struct sl_error *error), void *context,
		 struct sl_error *error);
/* Run one job. */
void sl_job_run(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result);
