/* move.h - the one function that changes the phase. It asserts that the diagram of phase.h has the arrow, and
 * enters the phase by its row of the table, so that a phase file needs the header of no other phase to move
 * on.
 */
#pragma once

#include "common/core/state.h"

/* Move to phase `to` and enter it. */
void sl_move_to(struct sl_core *core, enum sl_phase to);
