/* reload.h - read again what may change while the learner runs: the effect of SIGHUP and of `starling
 * reload`. */
#pragma once

#include "common/base/err.h"

struct sl_daemon;

/* Read the files again. On an error nothing has changed; the text says which file, and why. */
int sl_reload(struct sl_daemon *daemon, struct sl_error *error);
