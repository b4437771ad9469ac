/* dp_plan.h - the part of `starling dp plan` that is C. */
#pragma once

#include <jansson.h>

#include "common/base/err.h"

/* Print the noise that a budget needs, or the epsilon of a noise, as JSON. */
int sl_dp_plan(const char *subject, const json_t *request, struct sl_error *error);
