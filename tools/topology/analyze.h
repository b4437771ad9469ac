/* analyze.h - the analysis of the steps of a schedule, as JSON. */
#pragma once

#include <jansson.h>

#include "tools/topology/figures.h"

/* Return an array with an object for each of the first `steps`, or NULL; errors name the step. */
json_t *sl_analyze(const struct sl_schedule *schedule, uint32_t steps,
		   const struct sl_figures_request *request, struct sl_error *error);
