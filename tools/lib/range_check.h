/* range_check.h - the step of each tensor, and the exponent that it has after the round, by PROTOCOL.md §4.3
 * Ranges of the tensors. It shares no code with the daemon's.
 */
#pragma once

#include "tools/lib/checkpoint_check.h"

#define SL_RANGE_CHECK_MAGNITUDES 16

struct sl_range_grid {
	int step;				    /* log2 of the quantization step, of the last limb */
	int lower;				    /* bits of all limbs but the first */
	double most;				    /* steps at the range, beyond which an update is cut */
	unsigned counts[SL_RANGE_CHECK_MAGNITUDES]; /* learners by magnitude */
	double change;				    /* largest update of the learner that is being read */
};

/* Set one grid for each tensor of `tensors`: in the first round of the step 2^first_step, without a range;
 * else by the exponents of `before`. */
void sl_range_check_grids(struct sl_range_grid *grids, const struct sl_tensor_file *tensors,
			  const struct sl_tensor_file *before, int bits, int first_step);
/* Count the learner that was read, by grid->change, and begin the next one. */
void sl_range_check_count(struct sl_range_grid *grid, int range);

/* Return the limbs of the values of a tensor. */
int sl_range_check_limbs(const struct sl_tensor_file *tensors, const struct sl_tensor_place *place);
/* Return the bits of all of them, if the first has `bits`. */
int sl_range_check_bits(int limbs, int bits);
/* Return the bits that the exponent of a tensor after a first round has more for them. */
int sl_range_check_room(int limbs, bool zeros);

/* Where a tensor stands at the end of a round. */
struct sl_range_end {
	bool first; /* round of whole models */
	int range, bits;
	unsigned learners, backed; /* N, c + 1 */
	double most, weight;	   /* largest sum, in steps of the first limb; Z_n */
};
/* Return the exponent of a tensor after the round; INT_MAX: all sums are 0 in the first one. */
int sl_range_check_exponent(const struct sl_range_grid *grid, const struct sl_range_end *end);
