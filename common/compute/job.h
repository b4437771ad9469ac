/* job.h - the slow work of an attempt, cut into jobs over one learner's vectors; run by the shell off its
 * loop.
 *
 *   SURVEY    view graph, c                  -> what mixing takes, and whom c colluders could single out
 *   ENCODE    model, weight                  -> x; opens the sharing with fresh coin keys; seeded: rows
 * 0..degree-1 SHARE m   x                              -> rows 0..degree-1, packed for the neighbours; the
 * own row is added to s GATHER    neighbours' shares             -> s += share; seeded: kept for EXPAND
 *   EXPAND m  neighbours' seeds              -> s += what they stand for
 *   SEAL      s                              -> own slot of the spool, commitment H(s(0) || nonce)
 *   MIX m     s, neighbours' states of one k -> state of k+1; of k = 0: their slots (mixing.h)
 *             by tree: s, the children's sums    -> s += those; or what came down -> s = Z
 *   CLOSE     the last state                 -> Z, margin, D, total weight; SL_ERR_INVALID if N models cannot
 * sum to Z DECODE    Z                              -> committed model KEEP      neighbours' states of k = 0
 * -> their slots, where no MIX does that: it has not come to be, or by tree FETCH     a chunk of a masked
 * state      -> its owner's slot            \ instead of mixing, or CHECK i   slot i -> whether its owner is
 * | the rest of it SUM       all slots                      -> as CLOSE                    /  (protocol 6,
 * finish) ABSORB    a neighbour's chunks of Z      -> Z                    \ instead of a round ADOPT     Z
 * -> D, committed model   / that was missed
 *
 * Jobs of one learner run one at a time, in the order given. x, shares and s are secret; s becomes Z in
 * place. Nothing here allocates, reads a clock or does I/O; randomness comes from the key source handed in.
 */
#pragma once

#include "common/protocol/canonical.h"
#include "common/compute/slots.h"
#include "common/compute/job_analysis.h"
#include "common/field/metropolis.h"

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

struct sl_job {
	enum sl_job_kind kind;
	uint32_t epoch;		    /* of the attempt that asked; results of another are ignored */
	uint32_t chunk;		    /* of CHECK: position of the slot's owner in the view */
	const struct sl_view *view; /* borrowed until the result is back */
	const uint8_t *expected;    /* ADOPT: D; CHECK: the commitment; SL_HASH_BYTES */
	struct sl_buffer *buffers;  /* GATHER, MIX, KEEP, FETCH, ABSORB: owned by the job from here on; the
				       shell frees them after */
};

struct sl_job_result {
	enum sl_job_kind kind;
	uint32_t epoch;
	uint32_t chunk;
	int code;      /* SL_OK, or why the job could not be done */
	uint32_t from; /* GATHER, MIX: with SL_ERR_INVALID, the neighbour whose elements are not of the field
			*/
	const struct sl_analysis *analysis; /* SURVEY: in the vault, until the next one */
	double real;			    /* CLOSE: margin; SUM: 0 */
	uint8_t hash[SL_HASH_BYTES];	    /* SEAL: commitment; CLOSE, SUM, ADOPT: D */
	uint64_t total;			    /* CLOSE, SUM, ADOPT: Z_n; ENCODE: coordinates clamped */
	struct sl_encode_note note;	    /* ENCODE */
};

/* Fills n bytes from the operating system's generator. */
typedef void (*sl_key_source)(void *context, uint8_t *bytes, size_t n);

/* One learner's vectors. The shell owns the memory; jobs use it. */
struct sl_workspace {
	struct sl_scope scope;
	size_t n;		 /* floats of the model */
	float *trained;		 /* n: theta_i, from the trainer; secret */
	float *committed;	 /* n: the committed model, out of DECODE */
	uint64_t weight;	 /* m_i */
	bool clamp;		 /* clip_policy */
	bool randomness_from_os; /* `coins: os` */
	sl_key_source source;
	void *source_context;

	uint64_t *x; /* n+1: encoding; wiped when the shares are out; then exact adds up Z there */
	uint64_t *s; /* n+1: masked state, then what mixing makes of it, then Z */
	struct sl_slots state_file; /* of the view; open from ENCODE on, or before the start where one was cut
				       short */
	struct sl_arena scratch;    /* at least sl_job_scratch(view) when SURVEY and ENCODE run */
	struct sl_analysis analysis;

	struct sl_sharing sharing;
	struct sl_prg *randomness; /* degree streams */
	struct sl_prg *theirs;	   /* seeded: of the neighbours' seeds */
	uint8_t **shares; /* degree rows as they go out: of one chunk, from SHARE m to the next SHARE; or
			     seeds */
	uint64_t **rows;  /* degree + 1 rows of a block */
	uint64_t *share_scratch;
	struct sl_divisor *divisors; /* degree, for metropolis */
	uint64_t *weights;	     /* degree + 1, the own last: w_ij of exact */
	const uint8_t **states;	     /* degree */
};

/* Bytes of scratch for an attempt on this view. */
size_t sl_job_scratch(const struct sl_view *view);

/* The bytes of a State that the core sends: sl_view_mixing_width(view) for each element of its chunk. Between
 * jobs of the chunk. */
void sl_job_mix_state(const struct sl_workspace *workspace, const struct sl_view *view,
		      const struct sl_chunk *chunk, uint8_t *out);

void sl_job_run(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result);
/* Wipes x, s, shares and coins: at the end of every attempt. The spool is the shell's to end. */
void sl_job_wipe(struct sl_workspace *workspace);
