/* wait_log.h - the log of what a learner waits for: after a second, after ten, then whenever the wait has
 * become twice as long, and when it ends. Training and arithmetic of its own are no waits. */
#pragma once

struct sl_observe;

/* Look whether a record is due; called several times a second. */
void sl_wait_log_look(struct sl_observe *observe);
/* End the wait: the phase changes. */
void sl_wait_log_end(struct sl_observe *observe);
