/* conflict.h - two signed records of one learner that no honest learner signs both: report them as evidence,
 * once per signer and round (GROUP.md §12.5 Equivocation and evidence).
 */
#pragma once

#include "common/core/state.h"

/* Report `first` and `second`, which `signer` signed. */
void sl_conflict(struct sl_core *core, uint32_t signer, const struct sl_message *first,
		 const struct sl_message *second);
/* A Ready, an Abort of `signer` has come: compare it with what is stored. */
void sl_conflict_ready(struct sl_core *core, uint32_t signer, const struct sl_ready *ready);
void sl_conflict_abort(struct sl_core *core, uint32_t signer, const struct sl_abort *abort_record);
