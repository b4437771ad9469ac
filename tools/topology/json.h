/* json.h - what reports have in common as JSON. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "common/base/err.h"

/* The ids of vertices: [1, 3]. */
json_t *sl_json_ids(const uint32_t *vertices, size_t count);

/* Prints and releases it; NULL says that memory was short. */
int sl_json_print(json_t *report, FILE *out, struct sl_error *error);
