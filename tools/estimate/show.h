/* show.h - an estimate as JSON. */
#pragma once

#include <jansson.h>

#include "tools/estimate/estimate.h"

json_t *sl_estimate_json(const struct sl_estimate_input *input, const struct sl_estimated *planned);
