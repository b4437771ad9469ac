#include "common/core/move.h"

#include <assert.h>

#include "common/core/emit.h"

void sl_move_to(struct sl_core *core, enum sl_phase to)
{
	assert(sl_phase_allows(core->phase, to));
	core->before = core->phase;
	core->phase = to;
	core->since = core->now;
	core->report_at = core->now + SL_WAIT_REPORT_MS;
	core->at.progress = core->now;
	sl_emit_report(core, SL_REPORT_PHASE);
	if (core->phases[to].enter != NULL)
		core->phases[to].enter(core);
}
