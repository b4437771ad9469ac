/* audit.h - reports on what colluding learners learn (ROUND.md §2.3 What a coalition learns; the paper's
 * Theorem).
 *
 * In a step, a coalition learns the sum of the models of each group into which the other learners fall
 * without it, and nothing else. More than one group is more than the mean; so is a group of one learner,
 * whose model it is. Over all steps, if no model changes in between, the coalition learns the span of these
 * sums.
 */
#pragma once

#include "tools/lib/schedule.h"

struct sl_audit_request {
	const struct sl_schedule *schedule;
	uint32_t quorum;	   /* learners that a round takes */
	const uint32_t *coalition; /* ascending, each once; some but not all learners */
	size_t count;		   /* 0: no coalition is named, search for weak ones */
	uint32_t tolerance;	   /* then: of up to so many learners */
	bool unchanged;		   /* models do not change between the steps, which then count as one */
	bool json;
};

/* Print the report on the named coalition. *beyond: whether it learns more than the mean. */
int sl_audit_named(const struct sl_audit_request *request, FILE *out, bool *beyond, struct sl_error *error);
/* Print which coalitions learn more than the mean. *beyond: whether there are any. */
int sl_audit_weak(const struct sl_audit_request *request, FILE *out, bool *beyond, struct sl_error *error);
