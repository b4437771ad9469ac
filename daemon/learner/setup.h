/* setup.h - everything that precedes the first event: identity, configuration, memory, loop, network. */
#pragma once

#include "common/config/settings.h"

struct sl_daemon;
struct sl_settings_source;

/* Read `settings` and the roster, and open `daemon`. On an error nothing runs, and the text names the remedy.
 * SL_PENDING: a signal ended the learner meanwhile. */
int sl_setup_open(struct sl_daemon *daemon, const struct sl_settings_source *source,
		  struct sl_settings *settings, struct sl_error *error);
/* Check all that sl_setup_open would refuse. Nothing is written, so that the check may run beside a running
 * daemon. */
int sl_setup_check(struct sl_daemon *daemon, const struct sl_settings_source *source,
		   struct sl_settings *settings, struct sl_error *error);
/* Free whatever sl_setup_open or sl_setup_check opened. */
void sl_setup_close(struct sl_daemon *daemon);
