/* held.h - the records that a learner holds and passes on (ROUND.md §7.6 Link states and the flood).
 */
#pragma once

#include "common/core/state.h"

/* Return true if a link state is passed on: it is of this round or a later one, or has no candidates and only
 * shows the round of its signer. */
bool sl_held_wanted(const struct sl_core *core, const struct sl_link_state *state);
/* Return the record of `kind`, a flooded one, of `signer`. */
struct sl_record *sl_held_of(struct sl_core *core, uint32_t signer, enum sl_message_kind kind);
/* Return it if it is passed on now, or NULL. */
struct sl_record *sl_held_record(struct sl_core *core, uint32_t signer, enum sl_message_kind kind);
/* Return its message. */
struct sl_message sl_held_message(const struct sl_core *core, uint32_t signer, enum sl_message_kind kind);
/* Note whether the other end of the link to `peer` has the record of `signer` that is held here; return what
 * was noted. It means nothing while the link is down. */
void sl_held_set(struct sl_core *core, enum sl_message_kind kind, uint32_t signer, uint32_t peer, bool has);
bool sl_held_there(const struct sl_core *core, enum sl_message_kind kind, uint32_t signer, uint32_t peer);
