/* analyze.h - the report of `starling topology analyze`. */
#pragma once

#include "tools/topology/figures.h"

struct sl_analyze_request {
	struct sl_figures_request figures;
	uint32_t tolerance; /* c: a step that the privacy check refuses at it is marked */
	bool json;
};

/* Print the analysis of every step: an aligned table and remarks on its steps, or a JSON array. */
int sl_analyze_print(const struct sl_schedule *schedule, const struct sl_analyze_request *request, FILE *out,
		     struct sl_error *error);
