/* json.h - common parts of JSON reports. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "common/base/err.h"

/* Return the learner ids of vertices: [1, 3]. */
json_t *sl_json_ids(const uint32_t *vertices, size_t count);

/* Print and release `report`; NULL stands for a lack of memory. */
int sl_json_print(json_t *report, FILE *out, struct sl_error *error);
