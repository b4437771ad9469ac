/* parameters.h - the numbers with which the core computes. The roster settles most of them: its hash covers
 * them (ROUND.md §3.2 Settings of the roster, and local ones), so they are equal at all learners of a view,
 * and no message has them. The rest stands in each LinkState: SL_STATEMENT_FIELDS of message.h.
 */
#pragma once

#include <stdint.h>

struct sl_parameters {
	/* --- of the roster --- */
	uint64_t p;	 /* prime of the field; 0: auto */
	uint64_t rounds; /* T */
	uint64_t quorum;
	uint64_t tolerance;  /* c; at least two learners do not collude */
	uint64_t forgetful;  /* f; learners whose disk may forget what they signed */
	uint64_t max_weight; /* 1: equal weights */
	uint64_t decimals,
		clipping_range; /* of values MODEL, the range as the bits of a double; else 0 and 1.0 */
	uint64_t update_bits; /* of values UPDATE, bits below its range that are kept of an update; else 0. In
			       * a view: w, the bits of a limb */
	uint64_t encoding;    /* enum sl_encoding_kind */
	uint64_t sharing;     /* enum sl_sharing_kind */
	uint64_t mixing;      /* enum sl_engine */
	uint64_t k;	      /* floor under K; with iterations_rule, K itself */
	uint64_t iterations_rule; /* 0 or 1 */
	uint64_t max_degree;	  /* with more peers in range, the learner offers an overlay of this degree */
	uint64_t privacy_check;	  /* 0: warn; 1: enforce */
	/* with values that are noisy, doubles as their bits: */
	uint64_t dp_unit;		      /* enum sl_dp_unit */
	uint64_t dp_clip, dp_noise, dp_range; /* z is chosen; 0: the usual range */
	/* --- of this learner, or as the participants of a view state them --- */
	uint64_t n, model, values, initial, failed, hop_bytes;
};
