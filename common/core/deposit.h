/* deposit.h - the deposits in the slots of the state file, checked one after the other against the Readys of
 * their owners (ROUND.md §7.11 Ready, §10.2 Deposits).
 */
#pragma once

#include "common/core/state.h"

/* Note what the slots may have: with `all`, as in a state file from disk, any; else the deposits that are
 * kept here. */
void sl_deposit_begin(struct sl_core *core, bool all);
/* The slot of the participant at `position` has the deposit that its Ready names. */
void sl_deposit_hold(struct sl_core *core, uint32_t position);
/* Forget a CHECK job that is out: its result is late. */
void sl_deposit_restart(struct sl_core *core);
/* Check the next slot whose owner's Ready is here. */
void sl_deposit_check(struct sl_core *core);
/* CHECK is done. */
void sl_deposit_checked(struct sl_core *core, const struct sl_job_result *result);
/* Return the bytes of a chunk of a deposit. */
size_t sl_deposit_chunk_bytes(const struct sl_core *core, uint32_t index);
/* Send chunk `index` of the deposit of `position` to the peers of `to`; or, if `requested`, answer them. */
void sl_deposit_send(struct sl_core *core, const uint64_t *to, uint32_t position, uint32_t index,
		     bool requested);
