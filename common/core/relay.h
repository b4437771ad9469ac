/* relay.h - flooding: the latest record of each learner goes once over each link that is not known to have it
 * (ROUND.md §7.6 Link states and the flood).
 */
#pragma once

#include "common/core/state.h"

/* Flood the record of `signer`, which was replaced by one that came over the link to `from`; the own index:
 * from no link. */
void sl_relay_record(struct sl_core *core, enum sl_message_kind kind, uint32_t signer, uint32_t from);
/* Give a link state memory for `count` candidates. */
void sl_relay_room(struct sl_core *core, struct sl_link_record *lr, uint32_t count);
/* At the begin of a step: make room in core->names for the link states that a step can store. */
void sl_relay_make_room(struct sl_core *core);
/* Flood an own link state with these candidates. */
void sl_relay_own_link_state(struct sl_core *core, const uint64_t *candidates);
/* Relay the record of `signer` at once: others wait for it. */
void sl_relay_now(struct sl_core *core, struct sl_record *record);
/* A link came up: its other end has no record. */
void sl_relay_forget(struct sl_core *core, uint32_t link);
/* Send what is due. What does not fit the step is left to the next one. */
void sl_relay_pump(struct sl_core *core);
