/* split.h - participants that hold different Readys of one view: one of them has signed two (ROUND.md
 * §7.12 Release). No sum is computed for stall_timeout; a divided attempt is given up.
 */
#pragma once

#include "common/core/state.h"

/* All Readys are held: compare them with those of the peers that have said theirs. */
void sl_split_begin(struct sl_core *core);
/* `peer`, a participant, has said the hash of its Readys: zeros if it lacks some. */
void sl_split_heard(struct sl_core *core, uint32_t peer, const uint8_t *readys);
/* Compare a Ready of `signer` with the one of the present attempt. If they differ, `signer` has signed two:
 * show the participants both, so that they find this, too. */
void sl_split_ready(struct sl_core *core, uint32_t signer, const struct sl_ready *ready);
/* Return true if one participant was seen to sign two Readys, and another one holds the other, or has given
 * the attempt up. */
bool sl_split_divides(const struct sl_core *core);
/* Return the time until which no sum is computed, since the participants may hold different Readys; 0: they
 * do not, as far as is known. */
sl_ms sl_split_due(const struct sl_core *core);
/* Return true if all neighbours have the Readys of this learner. */
bool sl_split_excluded(const struct sl_core *core);
