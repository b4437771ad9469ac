/* state_loss.h - records that this learner has signed and forgotten, and that peers show it (GROUP.md §12.4
 * Disks that forget): it abstains until the round of the record has committed.
 *
 * A peer becomes a candidate only after its Hello on the link, and reminds before it: so a learner is
 * reminded before it signs anything that names that peer.
 */
#pragma once

#include "common/core/state.h"

/* The link to `peer` came up: send it what is held of its own records, and its deposit key if that is known.
 */
void sl_state_loss_remind(struct sl_core *core, uint32_t peer);

/* `peer` shows a record that this learner has signed. */
void sl_state_loss_link_state(struct sl_core *core, uint32_t peer, const struct sl_link_state *state);
void sl_state_loss_ready(struct sl_core *core, uint32_t peer, const struct sl_ready *ready);
void sl_state_loss_abort(struct sl_core *core, uint32_t peer, const struct sl_abort *abort_record);
/* The operator takes the risk that what was forgotten completes (ROUND.md §9.5 Abort by the operator). */
void sl_state_loss_clear(struct sl_core *core);
