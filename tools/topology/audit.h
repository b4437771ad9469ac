/* audit.h - reports of what learners learn who pool all they see (protocol 4, F2; the paper's
 * Theorem).
 *
 * In a step they learn the sum of the models of each group into which the others fall without them, and
 * nothing else. More than one group is more than the mean; so is the only other learner's model. Over all
 * steps, had no model changed in between, they learn the span of these sums.
 */
#pragma once

#include "tools/lib/schedule.h"

struct sl_audit_request {
	const struct sl_schedule *schedule;
	uint32_t quorum;	  /* learners that a round takes */
	const uint32_t *suspects; /* ascending, each once; some but not all */
	size_t count;		  /* 0: nobody is named, look for them */
	uint32_t tolerance;	  /* then: in coalitions of up to so many */
	bool unchanged;		  /* the steps count as one: models do not change in between */
	bool json;
};

/* Prints the report. *beyond: whether anybody asked about learns more than the mean. */
int sl_audit_suspects(const struct sl_audit_request *request, FILE *out, bool *beyond,
		      struct sl_error *error);
int sl_audit_weak(const struct sl_audit_request *request, FILE *out, bool *beyond, struct sl_error *error);
