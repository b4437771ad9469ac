/* health.h - whether a learner makes progress, or waits within its deadlines: the answer of /healthz. */
#pragma once

#include <stdbool.h>

#include "common/core/core.h"
#include "common/protocol/report.h"
#include "common/protocol/wait.h"

#define SL_HEALTH_LATE_MS 2000u	   /* after its deadline, a phase may need so long to act */
#define SL_HEALTH_DISK_MS 10000u   /* a durable write that takes longer hangs */
#define SL_HEALTH_FAILURES_MOST 5u /* attempts that fail in a row, without a commit */

/* Facts of this moment. */
struct sl_health {
	bool failed;	  /* a fatal error ends the learner */
	sl_ms writing_ms; /* duration so far of the durable write under way; 0: none */
	struct sl_core_status status;
	sl_ms now; /* of the core's clock */
	enum sl_wait wait;
	const char *awaited;   /* "ana (2), bo (5)"; "": none */
	const char *obstacle;  /* what waiting alone does not cure, and the remedy; "": it may */
	uint32_t failures;     /* attempts in a row */
	enum sl_reason reason; /* of the last of them */
};

/* Return true if the present phase has waited beyond its deadline, or waits for a change of links or
 * settings. The control socket, the log and /healthz follow this rule. */
bool sl_health_overdue(const struct sl_core_status *status, enum sl_wait wait, sl_ms now);
/* Return true if all is well. Write to `line` where the learner is, or what is wrong. */
bool sl_health_line(const struct sl_health *health, char *line, size_t size);
