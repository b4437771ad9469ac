/* metrics_text.h - the figures of a learner as text. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "daemon/observe/metrics.h"

#define SL_METRICS_TEXT_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define SL_METRICS_TEXT_PROMETHEUS "text/plain; version=0.0.4; charset=utf-8"

/* Write all figures, with the label learner="name", in the format OpenMetrics, or else that of Prometheus
 * 0.0.4. */
void sl_metrics_text(const struct sl_metrics *metrics, const char *name, bool openmetrics, FILE *out);
