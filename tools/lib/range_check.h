/* range_check.h - how each tensor was encoded, and the exponent that it has after the round, by ROUND.md
 * §4.3 Limbs and ranges. It shares no code with the daemon's.
 */
#pragma once

#include "tools/lib/checkpoint_check.h"

#define SL_RANGE_CHECK_MAGNITUDES 16

/* The updates of one tensor in a ranged round. */
struct sl_range_grid {
	int step;				    /* log2 of the quantization step, of the last limb */
	int lower;				    /* bits of all limbs but the first */
	double most;				    /* steps at the range, beyond which an update is cut */
	unsigned counts[SL_RANGE_CHECK_MAGNITUDES]; /* learners by magnitude */
	double change;				    /* largest update of the learner that is being read */
};

/* Set one grid for each tensor of `tensors` by the exponents of `before`. */
void sl_range_check_grids(struct sl_range_grid *grids, const struct sl_tensor_file *tensors,
			  const struct sl_tensor_file *before, int bits);
/* Count the learner that was read, by grid->change, and begin the next one. */
void sl_range_check_count(struct sl_range_grid *grid, int range);

/* Return true if the tensor is exact in ranged rounds, too. */
bool sl_range_check_always_exact(const struct sl_tensor_place *place);
/* Return the limbs of its updates: 1, 3 or 5; of an exact tensor, 1. */
int sl_range_check_limbs(const struct sl_tensor_file *tensors, const struct sl_tensor_place *place);
/* Return log2 of the unit of its exact values. */
int sl_range_check_bottom(const struct sl_tensor_file *tensors, const struct sl_tensor_place *place);
/* Return the bits of the limbs of an update below the first one, which has `bits`. */
int sl_range_check_lower(int limbs, int bits);

/* Where a tensor stands at the end of a ranged round. */
struct sl_range_end {
	int range, bits;
	unsigned learners, backed; /* N, c + 1 */
	double most, weight;	   /* largest sum, in steps of the first limb; Z_n */
};
/* Return the exponent of a tensor after it. */
int sl_range_check_exponent(const struct sl_range_grid *grid, const struct sl_range_end *end);
/* Return the exponent after a round of models, of a tensor with values up to `most`; of zeros, with the
 * largest value of the others. */
int sl_range_check_first(double most, double others, int limbs, bool nonnegative);
