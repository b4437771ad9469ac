/* job.h - the slow work of an attempt, cut into jobs over one learner's vectors; run by the shell off its loop.
 *
 *   SURVEY    view graph, c                  -> what mixing takes, and whom c colluders could single out
 *   ENCODE    model, weight                  -> x; opens the sharing with fresh coin keys; seeded: rows 0..degree-1
 *   SHARE m   x                              -> rows 0..degree-1, packed for the neighbours; the own row is added to s
 *   GATHER    neighbours' shares             -> s += share; seeded: kept for EXPAND
 *   EXPAND m  neighbours' seeds              -> s += what they stand for
 *   SEAL      s                              -> own slot of the spool, commitment H(s(0) || nonce)
 *   MIX m     s, neighbours' states of one k -> state of k+1; of k = 0: their slots (mixing.h)
 *             by tree: s, the children's sums    -> s += those; or what came down -> s = Z
 *   CLOSE     the last state                 -> Z, margin, D, total weight; SL_ERR_INVALID if N models cannot sum to Z
 *   DECODE    Z                              -> committed model
 *   KEEP      neighbours' states of k = 0    -> their slots, where no MIX does that: it has not come to be, or by tree
 *   FETCH     a chunk of a masked state      -> its owner's slot            \ instead of mixing, or
 *   CHECK i   slot i                         -> whether its owner is         | the rest of it
 *   SUM       all slots                      -> as CLOSE                    /  (protocol 6, finish)
 *   ABSORB    a neighbour's chunks of Z      -> Z                    \ instead of a round
 *   ADOPT     Z                              -> D, committed model   / that was missed
 *
 * Jobs of one learner run one at a time, in the order given. x, shares and s are secret; s becomes Z in place. Nothing
 * here allocates, reads a clock or does I/O; randomness comes from the key source handed in.
 */
#pragma once

#include "common/base/err.h"
#include "common/compute/workspace.h"

enum sl_job_kind {
	SL_JOB_SURVEY = 1,
	SL_JOB_ENCODE,
	SL_JOB_SHARE,
	SL_JOB_GATHER,
	SL_JOB_EXPAND,
	SL_JOB_SEAL,
	SL_JOB_MIX,
	SL_JOB_CLOSE,
	SL_JOB_DECODE,
	SL_JOB_KEEP,
	SL_JOB_FETCH,
	SL_JOB_CHECK,
	SL_JOB_SUM,
	SL_JOB_ABSORB,
	SL_JOB_ADOPT,
};
#define SL_JOB_KINDS (SL_JOB_ADOPT + 1u)

struct sl_job {
	enum sl_job_kind kind;
	uint32_t epoch;             /* of the attempt that asked; results of another are ignored */
	uint32_t chunk;             /* of CHECK: position of the slot's owner in the view */
	const struct sl_view *view; /* borrowed until the result is back */
	const uint8_t *expected;    /* ADOPT: D; CHECK: the commitment; SL_HASH_BYTES */
	struct sl_buffer *buffers;  /* GATHER, MIX, KEEP, FETCH, ABSORB: owned by the job from here on; the shell frees them after */
};

struct sl_job_result {
	enum sl_job_kind kind;
	uint32_t epoch;
	uint32_t chunk;
	int code; /* SL_OK, or why the job could not be done */
	uint32_t from;               /* GATHER, MIX: with SL_ERR_INVALID, the neighbour whose elements are not of the field */
	const struct sl_analysis *survey; /* SURVEY: in the vault, until the next one */
	double real;                 /* CLOSE: margin; SUM: 0 */
	uint8_t hash[SL_HASH_BYTES]; /* SEAL: commitment; CLOSE, SUM, ADOPT: D */
	uint64_t total;              /* CLOSE, SUM, ADOPT: Z_n; ENCODE: coordinates clamped */
	struct sl_encode_note note;  /* ENCODE */
};

/* Call `touch` for each slot that `job` writes or reads, until it returns an error: before the job runs, memory behind the slots
 * must be there. Return that error or SL_OK. */
int sl_job_slots(const struct sl_job *job, int (*touch)(void *context, uint32_t position, struct sl_error *error), void *context,
		 struct sl_error *error);
/* Run one job. */
void sl_job_run(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result);
