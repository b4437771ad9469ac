/* state.h - the learner's own folder: its lock, its incarnation.
 *
 * One process at a time holds state/lock; state/incarnation counts starts, durably, before anything is signed.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

struct sl_state_folder {
	int lock; /* descriptor; -1: none */
	uint32_t incarnation;
};

/* Makes the folder (0700) if missing. SL_ERR_BUSY when another process holds it. */
int sl_state_open(struct sl_state_folder *state, const char *folder, struct sl_error *error);
void sl_state_close(struct sl_state_folder *state);
