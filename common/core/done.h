/* done.h - DONE: serve peers that do not have the last result yet, then stop (ROUND.md §7.16 Done). */
#pragma once

#include "common/core/state.h"

void sl_done_enter(struct sl_core *core);
/* Return true if c+1 linked peers, or all others, are in a later round and not done: they have agreed on more
 * rounds than this learner knows of. */
bool sl_done_too_early(const struct sl_core *core);
bool sl_done_advance(struct sl_core *core);
sl_ms sl_done_deadline(const struct sl_core *core);
enum sl_wait sl_done_awaits(const struct sl_core *core, uint64_t *set);
