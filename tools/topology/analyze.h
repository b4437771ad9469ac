/* analyze.h - the report of `starling topology analyze`. */
#pragma once

#include "tools/topology/figures.h"

struct sl_analyze_request {
	struct sl_figures_request figures;
	uint32_t tolerance; /* c: a step that the privacy check refuses at it is marked */
};

/* Print the analysis of every step, as a JSON array. */
int sl_analyze_print(const struct sl_schedule *schedule, const struct sl_analyze_request *request,
		     struct sl_error *error);
