/* actions.h - execute the actions of a core step, in their order. */
#pragma once

#include "common/core/core.h"

struct sl_daemon;

/* Execute `actions`. */
void sl_actions_execute(struct sl_daemon *daemon, const struct sl_actions *actions);
