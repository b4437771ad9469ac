/* workspace.h - one learner's vectors. The shell owns the memory; jobs use it, one at a time.
 *
 * trained, x, shares, s and second are secret. s becomes Z in place.
 */
#pragma once

#include <stdatomic.h>

#include "common/base/arena.h"
#include "common/base/tensors.h"
#include "common/compute/slots.h"
#include "common/base/team.h"
#include "common/dp/gaussian.h"
#include "common/field/encoding.h"
#include "common/field/metropolis.h"
#include "common/field/share.h"
#include "common/mixing/analysis.h"
#include "common/protocol/canonical.h"
#include "common/protocol/secrets.h"

/* Fill `n` bytes from the operating system's generator. */
typedef void (*sl_key_source)(void *context, uint8_t *bytes, size_t n);

/* The noise of an attempt; secret. */
struct sl_noise {
	struct sl_gaussian plan;
	uint8_t key[SL_KEY_BYTES], dither[SL_KEY_BYTES];
	double factor; /* the own vector is scaled by it */
};

/* What one worker needs for a block; secret. */
struct sl_room {
	uint64_t *s;		/* elements of s */
	uint64_t *x;		/* the encoding, wiped after the last SHARE */
	uint64_t **rows;	/* degree + 1: the shares; in MIX, the neighbours' first states */
	uint64_t *scratch;	/* of sl_share */
	struct sl_prg *streams; /* by neighbour */
	const uint8_t **states; /* by neighbour: the state that MIX works on */
};

struct sl_workspace {
	struct sl_scope scope;
	size_t n;			   /* elements of the model */
	struct sl_tensors tensors;	   /* of the model; without items: n float32 */
	void *trained;			   /* theta_i, from the trainer; secret */
	struct sl_ranges ranges;	   /* of rounds with limbs; count 0: models have decimals */
	void *committed;		   /* the last committed model, and the exponents of its ranges */
	uint8_t strands[SL_STRANDS_BYTES]; /* of the model and the exponents that the last CLOSE, SUM or
					      ADOPT found */
	void *fetched; /* a model from a peer's Result; needed from ABSORB to ADOPT alone */
	void *rest;    /* of the own last update, like a model: what its encoding left out; secret. NULL: not
			  kept. Lost with the process */
	uint8_t encoded[SL_HASH_BYTES]; /* h of the view for which `trained` was encoded last */
	uint64_t weight;		/* m_i; 0: the vector does not count */
	bool clamp;			/* clip coordinates instead of failing */
	bool zeros_allowed;		/* encode a tensor that is rounded to 0 in round after round */
	struct sl_in_a_row {
		uint32_t tensor, rounds; /* so many rounds in a row, up to round t; 0: none */
		sl_round t;
	} zeroed, cut;		 /* a tensor that the encoding and the result before it have as zeros; rounds
				  * whose ranges cut many values of the update */
	bool randomness_from_os; /* draw every random element from `source`, not from a PRG */
	sl_key_source source;
	void *source_context;
	struct sl_team *team;	  /* NULL: all parts run on the caller */
	const atomic_uint *wipes; /* above 0: what the job makes will be wiped, so it may end early. NULL:
				     it runs to its end */

	uint8_t *s;		    /* masked state, then the state of the engine, then Z; packed (state.h) */
	size_t s_bytes;		    /* at least sl_state_packed(view) from ENCODE or SUM on */
	uint64_t *second;	    /* states of metropolis, as int64; of exact, the sum over k */
	size_t second_elements;	    /* at least sl_state_second(view) from the first MIX on */
	struct sl_slots state_file; /* slots of the view; open from ENCODE on, or from the start for an
				       attempt from disk */
	struct sl_arena scratch;    /* at least sl_job_scratch(view) when ANALYSE and ENCODE run */
	struct sl_analysis analysis; /* of the last ANALYSE */

	struct sl_secrets secrets; /* own key, challenge, root and outgoing key shares, from SECRETS on */
	uint64_t *values;	   /* of the last CHECKSUM */

	struct sl_noise noise; /* from ENCODE to COMMITMENT */

	/* in the scratch, from ENCODE on */
	struct sl_sharing sharing;
	struct sl_room *rooms;	   /* by worker */
	struct sl_prg *randomness; /* by neighbour: key or source of the own shares */
	struct sl_prg *theirs;	   /* by neighbour: the seed received */
	uint8_t **shares; /* by neighbour: the share as it is sent, of the last SHARE job; or the seed */
	struct sl_divisor *divisors; /* by neighbour: of metropolis */
	uint64_t *weights;	     /* by neighbour, then the own: w_ij of exact */
	const uint8_t **states;	     /* by neighbour: the state that a MIX job takes */
	double spread;		     /* of the last MIX (job_types.h) */
};

/* Return the bytes of a model. */
static inline size_t sl_workspace_model_bytes(const struct sl_workspace *workspace)
{
	return sl_tensors_bytes(&workspace->tensors, workspace->n);
}
/* Return those of a result: of a model and the exponents of its ranges. */
static inline size_t sl_workspace_bytes(const struct sl_workspace *workspace)
{
	return sl_workspace_model_bytes(workspace) + sl_ranges_bytes(&workspace->ranges);
}
/* Return true if the job may end, with any result: then all that it writes is wiped next. */
static inline bool sl_workspace_over(const struct sl_workspace *workspace)
{
	return workspace->wipes != NULL && atomic_load(workspace->wipes) > 0;
}
/* Return the exponents that follow the committed model. */
static inline int16_t *sl_workspace_exponents(const struct sl_workspace *workspace)
{
	return (int16_t *)(void *)((uint8_t *)workspace->committed + sl_workspace_model_bytes(workspace));
}

/* Return the bytes of scratch that an attempt on this view needs with so many workers. */
size_t sl_job_scratch(const struct sl_view *view, uint32_t workers);
/* Wipe s, second, shares and streams: at the end of every attempt. The shell ends the state file. */
void sl_job_wipe(struct sl_workspace *workspace);
