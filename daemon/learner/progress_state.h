/* progress_state.h - what a learner has shown the service manager (progress.h). */
#pragma once

#include <stdint.h>

struct sl_progress {
	uint64_t taken;	   /* events taken from the queue since the start */
	uint64_t seen;	   /* .. at the last look */
	uint64_t fed_ms;   /* when the watchdog was fed last; 0: never */
	uint64_t shown_ms; /* when the status was shown last */
	char shown[256];   /* that status */
};
