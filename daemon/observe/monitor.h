/* monitor.h - what a learner shows over HTTP (`http` in the settings): /metrics, /healthz and /records. */
#pragma once

#include "common/base/err.h"
#include "daemon/observe/obstacle.h"

#define SL_MONITOR_LINE_BYTES (512u + SL_OBSTACLE_BYTES)

struct sl_observe;
struct sl_settings;

/* Check that `http` and `http_token_file` can be used; the port may still be in use. */
int sl_monitor_check(const struct sl_settings *settings, struct sl_error *error);

/* Look at the learner: return true if all is well, and write its line of /healthz. */
bool sl_monitor_health(struct sl_observe *observe, char line[static SL_MONITOR_LINE_BYTES]);
/* Answer requests from now on, if the settings say so. */
int sl_monitor_open(struct sl_observe *observe, struct sl_error *error);
/* Disconnect the clients; the loop must run once more. */
void sl_monitor_close(struct sl_observe *observe);
