/* augment.h - the links that a schedule lacks for every step to tolerate c colluding learners. */
#pragma once

#include "tools/lib/schedule.h"

/* Add links to every step until c learners may collude (vertex connectivity c + 1): as few as possible for c
 * of 0 and 1, above that a set of which none can be left out. A step that tolerates c is copied. `added` gets
 * the new links alone, step by step. SL_ERR_INVALID with fewer than c + 2 learners; after an error both
 * schedules are closed. */
int sl_augment_schedule(const struct sl_schedule *schedule, uint32_t c, struct sl_schedule *augmented,
			struct sl_schedule *added, struct sl_error *error);
