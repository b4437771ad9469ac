/* account.h - what a learner's account says of a committed round (ROUND.md §14.6 The account of the rounds).
 *
 * Nothing in it tells of one learner's model or weight, nor the total weight.
 */
#pragma once

#include "daemon/store/store.h"

struct sl_daemon;

/* Fill `entry` for a round with its certificate. `program`: hash of the training program, zeros: not known.
 * The caller frees entry->bytes. */
void sl_account_fill(const struct sl_daemon *daemon, const struct sl_store_round *round,
		     const struct sl_certificate *certificate, const uint8_t program[static SL_HASH_BYTES],
		     struct sl_account_entry *entry);
