/* show.h - a plan as a table, or as JSON. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "tools/estimate/estimate.h"

void sl_estimate_show(const struct sl_estimate_input *input, const struct sl_estimated *planned, FILE *out);
json_t *sl_estimate_json(const struct sl_estimate_input *input, const struct sl_estimated *planned);
