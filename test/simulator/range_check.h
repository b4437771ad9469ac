/* range_check.h - the limbs of a tensor, and the exponent that it has after the round, by ROUND.md
 * §4.3 Limbs and ranges, for the checker of the simulator. It shares no code with the daemon's.
 */
#pragma once

#include <stdbool.h>

#define SL_RANGE_CHECK_MAGNITUDES 16

/* The updates of one tensor in a ranged round. */
struct sl_range_grid {
	unsigned counts[SL_RANGE_CHECK_MAGNITUDES]; /* learners by magnitude */
	double change;				    /* largest update of the learner that is being read */
};

/* Count the learner that was read, by grid->change, and begin the next one. */
void sl_range_check_count(struct sl_range_grid *grid, int range);

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
