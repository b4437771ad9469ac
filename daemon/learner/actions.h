/* actions.h - execute the actions of a core step, in their order. */
#pragma once

#include "common/core/core.h"

struct sl_daemon;

/* Execute `actions`. */
void sl_actions_execute(struct sl_daemon *daemon, const struct sl_actions *actions);
/* Sign `message` with the own key, if messages of its kind carry a signature. */
void sl_actions_sign(const struct sl_daemon *daemon, struct sl_message *message);
/* Wipe the secret part of each buffer of the list and free the buffers. */
void sl_actions_free_buffers(struct sl_buffer *buffer);
