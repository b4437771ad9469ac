/* job.h - the slow work of an attempt, cut into jobs over one learner's vectors (workspace.h). The shell runs
 * them on a worker thread.
 *
 *   job       input                             output
 *   ANALYSE   graph of the view, c              analysis for the privacy check and for mixing
 *   ENCODE    model, weight                     x, fresh streams; seeded: the seeds
 *   SHARE m   x                                 the neighbours' shares of chunk m; s += own share
 *   GATHER    neighbours' shares                s += share; seeded: their streams
 *   EXPAND m  neighbours' streams               s += stream
 *   COMMITMENT s                                own slot, commitment H(s(0) || nonce)
 *   MIX m     s, neighbours' states             next state; first states go to their slots, too
 *   CLOSE     last state                        Z, margin, D, total weight, or SL_ERR_INVALID
 *   DECODE    Z                                 committed model
 *   BACKUP    neighbours' first states          their slots, where no MIX job does that
 *   FETCH     chunk of a masked state           slot of its owner                              \
 *   CHECK i   slot i                            SL_OK if it matches the commitment              | RECOVER
 *   SUM       all slots                         as CLOSE                                       /
 *   ABSORB    a peer's chunks of Z              Z                                              \ CATCHUP
 *   ADOPT     Z                                 D, committed model                             /
 *
 * Jobs of one learner run one at a time, in the order given. Nothing here allocates, reads a clock or does
 * I/O; random bytes come from the workspace's key source.
 */
#pragma once

#include "common/base/err.h"
#include "common/compute/workspace.h"

enum sl_job_kind {
	SL_JOB_ANALYSE = 1,
	SL_JOB_ENCODE,
	SL_JOB_SHARE,
	SL_JOB_GATHER,
	SL_JOB_EXPAND,
	SL_JOB_COMMITMENT,
	SL_JOB_MIX,
	SL_JOB_CLOSE,
	SL_JOB_DECODE,
	SL_JOB_BACKUP,
	SL_JOB_FETCH,
	SL_JOB_CHECK,
	SL_JOB_SUM,
	SL_JOB_ABSORB,
	SL_JOB_ADOPT,
};
#define SL_JOB_KINDS (SL_JOB_ADOPT + 1u)

struct sl_job {
	enum sl_job_kind kind;
	uint32_t epoch; /* of the attempt that gave the job; the core ignores results of another epoch */
	uint32_t chunk; /* CHECK: position of the slot */
	const struct sl_view *view; /* borrowed until the core has the result */
	const uint8_t *expected;    /* ADOPT: D; CHECK: the commitment; SL_HASH_BYTES */
	struct sl_buffer
		*buffers; /* GATHER, MIX, BACKUP, FETCH, ABSORB: the shell frees them after the job */
};

struct sl_job_result {
	enum sl_job_kind kind;
	uint32_t epoch;
	uint32_t chunk;
	int code;      /* SL_OK or an error */
	uint32_t from; /* GATHER, MIX: with SL_ERR_INVALID, the neighbour whose elements are not of the field
			*/
	const struct sl_analysis *analysis; /* ANALYSE: in the workspace, until the next one */
	double real;			    /* CLOSE: margin; SUM: 0 */
	uint8_t hash[SL_HASH_BYTES];	    /* COMMITMENT: commitment; CLOSE, SUM, ADOPT: D */
	uint64_t total;			    /* CLOSE, SUM, ADOPT: Z_n; ENCODE: coordinates clamped */
	struct sl_encode_note note;	    /* ENCODE */
	double update; /* ENCODE: largest |trained - committed| of float32 and float64; NaN in round 1 */
};

/* Call `touch` for each slot that `job` writes or reads, until it returns an error: before the job runs,
 * memory behind the slots must be there. Return that error or SL_OK. */
int sl_job_slots(const struct sl_job *job,
		 int (*touch)(void *context, uint32_t position, struct sl_error *error), void *context,
		 struct sl_error *error);
/* Run one job. */
void sl_job_run(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result);
