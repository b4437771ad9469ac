#include "common/core/restore.h"

#include "common/core/emit.h"
#include "common/core/move.h"
#include "common/core/recover.h"
#include "common/core/releases.h"
#include "common/core/view_build.h"

/* Take the Readys of the record: the own one stays as it was signed. Return false if one is missing or not of
 * this view. */
static bool take_readys(struct sl_core *core, const struct sl_open *open)
{
	bool own = false;
	for (uint32_t k = 0; k < open->ready_count; k++) {
		const struct sl_ready *ready = &open->readys[k];
		uint32_t i = sl_core_index(core, ready->id);
		uint32_t position = i == UINT32_MAX ? UINT32_MAX : core->view.position[i];
		if (position == UINT32_MAX || memcmp(ready->view, core->view.h, SL_HASH_BYTES) != 0)
			return false;
		core->at.readys[position] = *ready;
		core->readys[i].ready = *ready;
		core->readys[i].record.present = true;
		core->view.costs.k = ready->k > core->view.costs.k ? ready->k : core->view.costs.k;
		own |= i == core->config.self;
	}
	core->flood_dirty = true;
	return own && (!open->released || open->ready_count == core->view.n);
}

bool sl_restore(struct sl_core *core)
{
	const struct sl_open *open = core->config.open;
	if (!sl_view_restore(core, open->view, open->view_bytes) || core->view.t != core->t ||
	    !take_readys(core, open)) {
		core->view_built = core->view_checked = false;
		return false;
	}
	core->a = core->view.a;
	core->trained_at = core->now; /* the earlier incarnation's clock is unknown */
	core->at.resumed = true;
	sl_emit_report(core, SL_REPORT_RESUMED)->resumed.released = open->released;
	if (!open->released) {
		core->at.prepared = true;
		sl_move_to(core, SL_PHASE_READY);
		return true;
	}
	sl_releases_use(core);
	memcpy(core->open_view, core->view.h, SL_HASH_BYTES);
	sl_recover_begin(core);
	sl_move_to(core, SL_PHASE_RECOVER);
	return true;
}
