/* overlay.h - the peers to which this learner offers an edge when more than `max_degree` are in range
 * (ROUND.md §7.5 Overlay).
 */
#pragma once

#include "common/core/state.h"

/* Return true if fewer peers than `from` holds are offered an edge. */
bool sl_overlay_thins(const struct sl_core *core, const uint64_t *from);
/* Write to `offered` those of `from` that are offered an edge in round t. */
void sl_overlay(const struct sl_core *core, const uint64_t *from, uint64_t *offered);
