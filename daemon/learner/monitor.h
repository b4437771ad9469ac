/* monitor.h - what a learner shows over HTTP (`http` in the settings): /metrics, /healthz and /records. */
#pragma once

#include "common/base/err.h"
#include "common/protocol/report.h"

struct sl_daemon;
struct sl_settings;

/* Check that `http` and `http_token_file` can be used; the port may still be in use. */
int sl_monitor_check(const struct sl_settings *settings, struct sl_error *error);

/* Begin to count. */
void sl_monitor_init(struct sl_daemon *daemon);
/* Count a report of the core. */
void sl_monitor_report(struct sl_daemon *daemon, const struct sl_report *report);
/* Answer requests from now on, if the settings say so. */
int sl_monitor_open(struct sl_daemon *daemon, struct sl_error *error);
/* Disconnect the clients; the loop must run once more. */
void sl_monitor_close(struct sl_daemon *daemon);
