/* repair.h - the links that a schedule lacks for the gate to let every step pass. */
#pragma once

#include "tools/lib/schedule.h"

/* Adds links to every step until c learners may collude (vertex connectivity c + 1): as few as possible for c
 * of 0 and 1, above that so that none can be left out. A step that bears as much is as it was. `added` gets
 * the new links alone, step by step. SL_ERR_INVALID when there are fewer than c + 2 learners; both are closed
 * after an error. */
int sl_repair(const struct sl_schedule *schedule, uint32_t c, struct sl_schedule *repaired,
	      struct sl_schedule *added, struct sl_error *error);
