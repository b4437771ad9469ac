/* phases.h - the state machine in one table. */
#pragma once

#include "common/core/state.h"

extern const struct sl_phase_row sl_phases[SL_PHASE_COUNT];
