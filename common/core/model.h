/* model.h - Model: what a learner trains, for a neighbour that trains something else (PROTOCOL.md §6.16
 * Model).
 *
 * The core compares hashes. The lists of tensors are bytes to it: the shell compares them, and names the
 * difference.
 */
#pragma once

#include "common/core/state.h"

/* A link state of `signer` is known: if its parameter `model` is another one, send the own list, once per
 * link. */
void sl_model_tell(struct sl_core *core, uint32_t signer);
/* A Model has come from `peer`: report it, once per link. */
void sl_model_heard(struct sl_core *core, uint32_t peer, const struct sl_message *message);
