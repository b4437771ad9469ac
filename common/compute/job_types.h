/* job_types.h - a job and its result, as they pass between the core and the shell. job.h says what each job
 * does.
 */
#pragma once

#include "common/base/err.h"
#include "common/compute/workspace.h"
#include "common/protocol/secrets.h"

enum sl_job_kind {
	SL_JOB_ANALYSE = 1,
	SL_JOB_ENCODE,
	SL_JOB_SECRETS,
	SL_JOB_SHARE,
	SL_JOB_GATHER,
	SL_JOB_EXPAND,
	SL_JOB_DEPOSIT,
	SL_JOB_COMMITMENT,
	SL_JOB_MIX,
	SL_JOB_CLOSE,
	SL_JOB_CHECKSUM,
	SL_JOB_FETCH,
	SL_JOB_CHECK,
	SL_JOB_SUM,
	SL_JOB_ABSORB,
	SL_JOB_ADOPT,
	SL_JOB_ACCEPT,
};
#define SL_JOB_KINDS (SL_JOB_ACCEPT + 1u)

struct sl_job {
	enum sl_job_kind kind;
	uint32_t epoch; /* of the attempt that gave the job; the core ignores results of another epoch */
	uint32_t chunk; /* CHECK: position of the slot; CHECKSUM: 1 + that of the only one, or 0 */
	const struct sl_view *view; /* borrowed until the core has the result */
	uint64_t iteration;	    /* MIX: exchange of the states that are taken; of forest SL_FOREST_UP or
				       SL_FOREST_DOWN. 0: from the slots */
	const uint8_t (*keys)[SL_KEY_BYTES]; /* MIX, SUM, CHECKSUM: deposit keys by position, as far as they
						are needed; valid until the core has the result */
	const uint8_t *expected; /* ADOPT: D; CHECK: the hash of the deposit; CHECKSUM: the seed of the
				    points;   SL_HASH_BYTES */
	const struct sl_round_head *round; /* ADOPT: of the result; valid until the core has the result */
	struct sl_buffer *buffers; /* GATHER, MIX, FETCH, ABSORB: the shell frees them after the job. FETCH:
				      `from` is the position of the owner */
};

struct sl_job_result {
	enum sl_job_kind kind;
	uint32_t epoch;
	uint32_t chunk;
	int code;      /* SL_OK or an error */
	uint32_t from; /* GATHER, MIX, CHECKSUM: with SL_ERR_INVALID, the neighbour whose elements are not of
			  the field; SUM: the position */
	const struct sl_analysis *analysis; /* ANALYSE: in the workspace, until the next one */
	const struct sl_secrets *secrets;   /* SECRETS: key, challenge, root; in the workspace, until the step
					       that is given the result has ended */
	const uint64_t *values; /* CHECKSUM: in the workspace, a number of each point: of the own masked
				   state, of those kept, ascending by position, of Z; or of one */
	double real;		/* CLOSE: margin; SUM: 0; MIX of metropolis: spread of the states before the
				   exchange (sl_spectrum_spread_bound) to two digits, NaN: not measured */
	uint8_t hash[SL_HASH_BYTES];	   /* COMMITMENT: of the own deposit; CLOSE, SUM, ADOPT: D */
	uint64_t total;			   /* CLOSE, SUM: Z_n; ENCODE: coordinates clamped */
	uint8_t strands[SL_STRANDS_BYTES]; /* CLOSE, SUM: of Z */
	struct sl_encode_note note;	   /* ENCODE */
	double update; /* ENCODE: largest |trained - committed| of float32 and float64; NaN without a base */
	bool far; /* ENCODE: of a tensor, the update is as far beyond its range as can be told, and not tiny;
		     or many values are cut in round after round */
	bool scaled; /* ENCODE: the vector was longer than the norm, and is scaled down to it */
	bool zeroed; /* ENCODE: with SL_ERR_RANGE, tensor `first_frozen` was rounded to 0 too often */
	uint32_t frozen, first_frozen; /* ENCODE: tensors that changed and are 0 as a whole in the encoding;
					  the index of the first */
};
