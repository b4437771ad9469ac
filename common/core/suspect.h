/* suspect.h - peers that owed something to an attempt and made no progress (PROTOCOL.md §7.4 Discover).
 *
 * A link that is up says nothing of a disk that hangs, or of a program that is stopped. Such a peer costs the
 * others one deadline: after it, they neither wait for it nor name it as a candidate before it has reached a
 * later round. */
#pragma once

#include "common/core/state.h"

/* The attempt has ended in `phase` at a deadline, and the peers of `missing` owed what it waited for. */
void sl_suspect_add(struct sl_core *core, const uint64_t *missing);
/* `signer` has signed a link state of attempt a of round t. It ends the suspicion if it is of a later attempt
 * than the failure; after the n-th failure in a row, n > 1, only if it is of a round 2^(n-2) later at least.
 */
void sl_suspect_heard(struct sl_core *core, uint32_t signer, sl_round t, sl_attempt a);
/* Without the suspects no view is possible: suspect none. */
void sl_suspect_none(struct sl_core *core);
/* Peer `i` has taken part in a committed round. */
void sl_suspect_clear(struct sl_core *core, uint32_t i);
/* Set core->shunned: the suspects, if there is a quorum of ready learners without them. */
void sl_suspect_shun(struct sl_core *core);
