/* split.h - participants that hold different Readys of one view: one of them has signed two (PROTOCOL.md
 * §7.12 Release). No result is signed then.
 */
#pragma once

#include "common/core/state.h"

/* All Readys are held: compare them with those of the peers that have said theirs. */
void sl_split_begin(struct sl_core *core);
/* `peer`, a participant, has said the hash of its Readys: zeros if it lacks some. */
void sl_split_heard(struct sl_core *core, uint32_t peer, const uint8_t *readys);
/* Return a peer with other Readys than this learner, or SL_NOBODY. */
uint32_t sl_split_from(const struct sl_core *core);
/* Return true if all neighbours have the Readys of this learner. */
bool sl_split_excluded(const struct sl_core *core);
