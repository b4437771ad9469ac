/* spare.h - the links that the flood spares, since a tree brings the records to their other ends (ROUND.md
 * §7.6 Link states and the flood). Over them learners tell each other the hash of what they hold. Where it
 * differs, the link gets all records, as every other link does.
 *
 * Owns `branches`, `spared` and what was told. It sends Hellos only; relay.c sends the records.
 */
#pragma once

#include "common/core/state.h"

/* The view is agreed on: flood along its tree. */
void sl_spare_view(struct sl_core *core);
/* The link to `peer` came up or fell: its other end may lack what the tree brings, or the tree is cut. */
void sl_spare_link(struct sl_core *core, uint32_t peer);
/* There is a new record to be told of. */
void sl_spare_news(struct sl_core *core);
/* `peer` has told what it holds. */
void sl_spare_hello(struct sl_core *core, uint32_t peer, const uint8_t records[static SL_HASH_BYTES]);
/* Tell what is held here, and spare no longer the links over which something else is told, when it is time.
 * Return the time of the next look, or SL_NEVER. */
sl_ms sl_spare_look(struct sl_core *core);
/* Return the links, a word of their set, over which no record of `kind` goes now. */
uint64_t sl_spare_word(const struct sl_core *core, enum sl_message_kind kind, size_t word);
