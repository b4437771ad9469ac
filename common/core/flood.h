/* flood.h - received records: kept if newer than the learner's last one, and what they change
 * (ROUND.md §7.6 Link states and the flood).
 */
#pragma once

#include "common/core/state.h"

/* A link state, a Ready, an Abort has come over the link to `from`. */
void sl_flood_link_state(struct sl_core *core, uint32_t from, const struct sl_message *message);
void sl_flood_ready(struct sl_core *core, uint32_t from, const struct sl_message *message);
void sl_flood_abort(struct sl_core *core, uint32_t from, const struct sl_message *message);
