/* model.h - Model: the tensors of a learner, for a linked peer that trains another model (LINKS.md §6.16
 * Model).
 *
 * The core compares hashes. The lists of tensors are bytes to it: the shell compares them, and names the
 * difference.
 */
#pragma once

#include "common/core/state.h"

/* Send the own list to `signer`, once per link, if the parameter `model` of its link state is another one. */
void sl_model_tell(struct sl_core *core, uint32_t signer);
/* Report the Model that `peer` has sent, once per link. */
void sl_model_heard(struct sl_core *core, uint32_t peer, const struct sl_message *message);
