/* metrics.h - the numbers by which an application describes its training: loss, accuracy, any name. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#define SL_METRICS_MAX 64u
#define SL_METRIC_NAME_BYTES 64u /* with its terminating zero */

/* Return a new object of the finite numbers of `object`, or NULL if there are none. Others, those with an
 * empty or overlong name, and those beyond SL_METRICS_MAX are left out and counted in *dropped. */
json_t *sl_metrics_take(const json_t *object, size_t *dropped);
