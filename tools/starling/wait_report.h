/* wait_report.h - when a command that waits says so: at once if the reason is news, else every minute.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"

struct sl_wait_report {
	bool said;
	uint64_t at;		   /* s, of the last report */
	char last[SL_ERROR_BYTES]; /* its reason */
};

/* Return seconds of the monotonic clock. */
uint64_t sl_wait_report_now(void);
/* Return true if `reason` (NULL: none) is to be reported now. */
bool sl_wait_report_due(struct sl_wait_report *report, const char *reason);
