/* augment.h - the links that a schedule lacks for every step to tolerate c colluding learners. */
#pragma once

#include "tools/lib/schedule.h"

/* Find for every step the links with which c learners may collude (vertex connectivity c + 1): as few as
 * possible for c of 0 and 1, above that a set of which none can be left out. `added`, which the caller
 * closes, gets them step by step. SL_ERR_INVALID with fewer than c + 2 learners. */
int sl_augment_schedule(const struct sl_schedule *schedule, uint32_t c, struct sl_schedule *added,
			struct sl_error *error);
