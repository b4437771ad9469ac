/* discover.h - DISCOVER: peers in range, links to them, and the moment at which to begin an attempt
 * (ROUND.md §7.4 Discover).
 */
#pragma once

#include "common/core/state.h"

void sl_discover_enter(struct sl_core *core);
bool sl_discover_advance(struct sl_core *core);
sl_ms sl_discover_deadline(const struct sl_core *core);
enum sl_wait sl_discover_awaits(const struct sl_core *core, uint64_t *set);

/* SL_EVENT_RANGE: from the next attempt on, the peers of `range` are in range. */
void sl_discover_range(struct sl_core *core, const uint64_t *range);
/* Ask for links to the peers in range; with an overlay, to those that it offers an edge. */
void sl_discover_links(struct sl_core *core);
/* With an overlay, dial the links of the next attempt while the learner trains; silent peers are tried again.
 */
void sl_discover_ahead(struct sl_core *core);
/* A peer has become silent or answers again: with an overlay, find the links anew. */
void sl_discover_anew(struct sl_core *core);
/* A link state of `signer` shows that it and the peers that it `named` are alive: dial those that were
 * silent. */
void sl_discover_notice(struct sl_core *core, uint32_t signer, const uint64_t *named);
