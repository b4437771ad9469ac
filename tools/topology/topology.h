/* topology.h - a schedule from what a user writes for --topology: the name of a family, or a file. */
#pragma once

#include "tools/lib/schedule.h"
#include "tools/topology/figures.h"

struct sl_topology_request {
	const char *text;  /* NAME[:PARAMETER], FILE, or "-": standard input */
	uint32_t learners; /* 0: not said; a file says it itself */
	uint32_t steps;	   /* 0: not said */
	uint32_t redraws; /* steps of a family that changes, when `steps` is not said; 0: SL_TOPOLOGY_STEPS */
	uint64_t seed;
};

#define SL_TOPOLOGY_STEPS 10u /* of a family that changes from step to step, when nobody says how many */
#define SL_TOPOLOGY_STEPS_MAX 100000u

/* Whether `text` begins with the name of a family (what follows may still be wrong). */
bool sl_topology_is_name(const char *text);

/* The name of the family that a misspelt one may have meant, or "". */
#define SL_TOPOLOGY_NAME_BYTES 32u
void sl_topology_nearest(const char *text, char name[static SL_TOPOLOGY_NAME_BYTES]);

/* Draws or reads the schedule. A family that is the same in every step gets one step unless `steps` asks for
 * more; a file keeps its first `steps`. Errors name the text, or file and line. */
int sl_topology_schedule(const struct sl_topology_request *request, struct sl_schedule *schedule,
			 struct sl_error *error);

/* What `starling topology show` is asked. */
struct sl_show_request {
	struct sl_figures_request figures;
	uint32_t tolerance; /* c: a step that the gate refuses at it is marked */
};

/* Prints every step: an aligned table and what is to be said of its steps, or a JSON array. */
int sl_topology_print_table(const struct sl_schedule *schedule, const struct sl_show_request *request,
			    FILE *out, struct sl_error *error);
int sl_topology_print_json(const struct sl_schedule *schedule, const struct sl_show_request *request,
			   FILE *out, struct sl_error *error);
