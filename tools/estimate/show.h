/* show.h - an estimate as a table, or as JSON. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "tools/estimate/estimate.h"

void sl_plan_show(const struct sl_plan_input *input, const struct sl_planned *planned, FILE *out);
json_t *sl_plan_json(const struct sl_plan_input *input, const struct sl_planned *planned);
