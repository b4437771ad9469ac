/* restore.h - the attempt that a crash cut short goes on as recorded on disk (ROUND.md §14.3 Restart). */
#pragma once

#include "common/core/state.h"

/* Go on with config.open: in READY if it was prepared, in RECOVER if it was released. Return false if the
 * record is damaged or not of this learner. */
bool sl_restore(struct sl_core *core);
