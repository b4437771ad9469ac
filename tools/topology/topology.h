/* topology.h - a schedule from what a user writes for --topology: the name of a family, or a file. */
#pragma once

#include "tools/lib/schedule.h"

struct sl_topology_request {
	const char *text;  /* NAME[:PARAMETER], FILE, or "-": standard input */
	uint32_t learners; /* 0: not given; a file has the number */
	uint32_t steps;	   /* 0: not given */
	uint32_t redraws;  /* steps of a family that changes, where `steps` is not given; 0: SL_TOPOLOGY_STEPS
			    */
	uint64_t seed;
};

#define SL_TOPOLOGY_STEPS 10u /* of a family that changes from step to step, by default */
#define SL_TOPOLOGY_STEPS_MAX 100000u

/* Return whether `text` begins with the name of a family; its parameter may still be wrong. */
bool sl_topology_is_name(const char *text);

/* Say `what` the text is not, and the family whose name is near; if there is none, the hint. */
int sl_topology_unknown(const char *text, const char *what, const char *hint, struct sl_error *error);

/* Print an error of `command` in one line. Return the exit status. */
int sl_topology_failed(const char *command, const struct sl_error *error);

/* Draw or read the schedule. A family that is the same in every step gets one step unless `steps` asks for
 * more; a file keeps its first `steps`. Errors name the text, or file and line. */
int sl_topology_schedule(const struct sl_topology_request *request, struct sl_schedule *schedule,
			 struct sl_error *error);
