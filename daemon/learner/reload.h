/* reload.h - read again what may change while the learner runs: the effect of SIGHUP and of `starling
 * reload`. */
#pragma once

#include "common/base/err.h"

struct sl_daemon;

/* Open the log anew, and read its level and the roster again; with another roster the learner restarts by
 * itself. Log what came of it. On an error nothing has changed; the text says which file, and why. */
int sl_reload(struct sl_daemon *daemon, struct sl_error *error);
/* Take a signed roster that a command wrote while this learner started: after it had read the file, and
 * before it answered that command. */
void sl_reload_missed(struct sl_daemon *daemon);
