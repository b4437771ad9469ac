/* privacy.h - the privacy check: whether any c learners that pool what they see learn nothing but the mean
 * (ROUND.md §7.9 Privacy check). The sentence that explains a refusal is in common/report/privacy_text.h.
 */
#pragma once

#include <stdint.h>

enum sl_privacy {
	SL_PRIVACY_KEPT,
	SL_PRIVACY_FEW, /* fewer than c + 2 learners: from the mean, c of them compute the model of the
			   remaining one */
	SL_PRIVACY_CUT, /* kappa <= c: c learners cut the others apart, and learn the sum of each part */
};

/* Check the rule N >= c + 2 and kappa >= c + 1 for N `learners`. */
static inline enum sl_privacy sl_privacy_check(uint64_t learners, uint64_t kappa, uint64_t c)
{
	if (learners < c + 2)
		return SL_PRIVACY_FEW;
	return kappa > c ? SL_PRIVACY_KEPT : SL_PRIVACY_CUT;
}

/* What a learner does with a view whose sum would tell, beside those that were seen, a sum over fewer than
 * c + 2 learners (GROUP.md §12.7 Privacy over several sums). */
enum sl_membership_change {
	SL_MEMBERSHIP_WARN,   /* report it */
	SL_MEMBERSHIP_WAIT,   /* wait for the others of an atom, or for more newcomers */
	SL_MEMBERSHIP_COHORT, /* the same, or go on without c + 2 others of the atom */
};
