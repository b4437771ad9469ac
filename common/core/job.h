/* job.h - the slow work of an attempt, cut into jobs over one learner's vectors; run by the shell off its loop.
 *
 *   SURVEY    view graph, c                  -> mu, and whom c colluders could single out
 *   ENCODE    model, weight                  -> x; opens the sharing with fresh coin keys
 *   SHARE m   x                              -> rows 0..degree-1 for the neighbours; the own row is added to s
 *   GATHER    neighbours' shares             -> s += share
 *   SEAL      s                              -> commitment H(s(0) || nonce); X = s << f
 *   MIX m     X, neighbours' X of one k      -> X of k+1
 *   CLOSE     X of K                         -> Z, margin, D, total weight; SL_ERR_INVALID if N models cannot sum to Z
 *   DECODE    Z                              -> committed model
 *   ABSORB    a neighbour's chunks of Z      -> Z                    \ instead of a round
 *   ADOPT     Z                              -> D, committed model   / that was missed
 *
 * Jobs of one learner run one at a time, in the order given. x, shares and s are secret; s becomes X becomes Z in
 * place. Nothing here allocates, reads a clock or does I/O; randomness comes from the key source handed in.
 */
#pragma once

#include "common/core/canon.h"
#include "common/core/view.h"
#include "common/math/mix.h"

enum sl_job_kind {
	SL_JOB_SURVEY = 1,
	SL_JOB_ENCODE,
	SL_JOB_SHARE,
	SL_JOB_GATHER,
	SL_JOB_SEAL,
	SL_JOB_MIX,
	SL_JOB_CLOSE,
	SL_JOB_DECODE,
	SL_JOB_ABSORB,
	SL_JOB_ADOPT,
};

struct sl_job {
	enum sl_job_kind kind;
	uint32_t epoch;             /* of the attempt that asked; results of another are ignored */
	uint32_t chunk;
	const struct sl_view *view; /* borrowed until the result is back */
	const uint8_t *expected;    /* ADOPT: D, SL_HASH_BYTES */
	struct sl_buffer *buffers;  /* GATHER, MIX, ABSORB: owned by the job from here on; the shell frees them after */
};

/* What the gate asks of a graph; vertices are positions in the view. */
struct sl_survey {
	double mu;
	uint32_t kappa;      /* vertex connectivity, or c+1 if that is less */
	uint32_t weak_count; /* kappa < c+1: the cut vertices (kappa = 1), else a smallest cut */
	uint32_t weak[SL_LEARNERS_MAX];
	uint32_t missing_count; /* edges that would do; the first SL_ADVICE_MAX are named */
	struct sl_edge missing[SL_ADVICE_MAX];
};

struct sl_job_result {
	enum sl_job_kind kind;
	uint32_t epoch;
	uint32_t chunk;
	int code; /* SL_OK, or why the job could not be done */
	uint32_t from;               /* GATHER: with SL_ERR_INVALID, the neighbour whose share is not of the field */
	const struct sl_survey *survey; /* SURVEY: in the vault, until the next one */
	double real;                 /* CLOSE: margin */
	uint8_t hash[SL_HASH_BYTES]; /* SEAL: commitment; CLOSE, ADOPT: D */
	uint64_t total;              /* CLOSE, ADOPT: Z_n; ENCODE: coordinates clamped */
	struct sl_encode_note note;  /* ENCODE */
};

/* Fills n bytes from the operating system's generator. */
typedef void (*sl_key_source)(void *context, uint8_t *bytes, size_t n);

/* One learner's vectors. The shell owns the memory; jobs use it. */
struct sl_vault {
	struct sl_scope scope;
	size_t n;            /* floats of the model */
	float *trained;      /* n: theta_i, from the trainer; secret */
	float *committed;    /* n: the committed model, out of DECODE */
	uint64_t weight;     /* m_i */
	bool clamp;          /* clip_policy */
	bool coins_from_os;  /* `coins: os` */
	sl_key_source source;
	void *source_context;

	uint64_t *x;         /* n+1: encoding; wiped when the shares are out */
	uint64_t *s;         /* n+1: masked state, then X (int64), then Z */
	struct sl_arena scratch; /* at least sl_vault_scratch(view) when SURVEY and ENCODE run */
	struct sl_survey survey;

	struct sl_sharing sharing;
	struct sl_coins *coins;        /* degree streams */
	uint64_t **shares;             /* degree + 1 rows of one chunk, valid from SHARE m to the next SHARE */
	uint64_t *share_scratch;
	struct sl_divisor *divisors;   /* degree */
	const uint8_t **states;        /* degree */
};

/* Bytes of scratch for an attempt on this view. */
size_t sl_vault_scratch(const struct sl_view *view);

void sl_job_run(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result);
/* Wipes x, s, shares and coins: at the end of every attempt. */
void sl_vault_wipe(struct sl_vault *vault);
