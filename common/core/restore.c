#include "common/core/restore.h"

#include "common/core/aborts.h"
#include "common/core/deposit.h"
#include "common/core/emit.h"
#include "common/core/move.h"
#include "common/core/open.h"
#include "common/core/relay.h"
#include "common/core/split.h"
#include "common/core/view_build.h"

/* Take the Readys of the record: the own one stays as it was signed. Return false if one is missing or not of
 * this view. */
static bool take_readys(struct sl_core *core, const struct sl_open *open)
{
	for (uint32_t k = 0; k < open->ready_count; k++) {
		const struct sl_ready *ready = &open->readys[k];
		uint32_t i = sl_core_index(core, ready->id);
		uint32_t position = i == UINT32_MAX ? UINT32_MAX : core->view.position[i];
		if (position == UINT32_MAX || core->at.ready_here[position] ||
		    memcmp(ready->view, core->view.h, SL_HASH_BYTES) != 0)
			return false;
		core->at.readys[position] = *ready;
		core->at.ready_here[position] = true;
		core->at.ready_count++;
		core->readys[i].ready = *ready;
		sl_relay_record(core, SL_MSG_READY, i, core->config.self);
		core->readys[i].record.since = 0; /* it is not left to its signer */
		core->view.costs.k = ready->k > core->view.costs.k ? ready->k : core->view.costs.k;
	}
	core->flood_dirty = true;
	return core->at.ready_here[core->view.self] &&
	       (open->state != SL_OPEN_RELEASED || core->at.ready_count == core->view.n);
}

static bool take_secrets(struct sl_core *core, const struct sl_secrets *secrets)
{
	struct sl_secrets *own = core->at.secrets;
	if (secrets == NULL || secrets->count != own->count)
		return false;
	struct sl_held_share *shares = own->shares;
	memcpy(shares, secrets->shares, own->count * sizeof *shares);
	*own = *secrets;
	own->shares = shares;
	memcpy(core->at.keys[core->view.self], own->key, SL_KEY_BYTES);
	return true;
}

/* Sign again what the record says that was signed. */
static void take_aborts(struct sl_core *core, const struct sl_open *open)
{
	core->at.aborted = open->state == SL_OPEN_ABORTED;
	core->at.given_up = open->vote == SL_VOTE_ABORT;
	core->at.digested = open->vote == SL_VOTE_DIGEST;
	uint32_t says =
		(core->at.aborted ? SL_ABORT_UNRELEASED : 0) | (core->at.given_up ? SL_ABORT_UNSIGNED : 0);
	if (says != 0)
		sl_aborts_sign(core, says, core->a, &core->at.readys[core->view.self]);
}

bool sl_restore(struct sl_core *core)
{
	const struct sl_open *open = core->config.open;
	if (!sl_view_restore(core, open->view, open->view_bytes) || core->view.t != core->t ||
	    !take_readys(core, open) || !take_secrets(core, open->secrets)) {
		core->view_built = core->view_checked = false;
		return false;
	}
	core->a = core->view.a;
	core->trained_at = core->now; /* the earlier incarnation's clock is unknown */
	core->at.resumed = core->at.prepared = true;
	core->at.edition = 1;
	core->reach_stale = true;
	sl_deposit_begin(core, true);
	take_aborts(core, open);
	sl_emit_report(core, SL_REPORT_RESUMED)->resumed.released = open->state == SL_OPEN_RELEASED;
	if (open->state == SL_OPEN_PREPARED) {
		sl_move_to(core, SL_PHASE_READY);
		return true;
	}
	if (open->state == SL_OPEN_RELEASED) {
		core->at.released = true;
		sl_split_begin(core);
		sl_open_release(core);
	}
	sl_move_to(core, SL_PHASE_RECOVER);
	return true;
}
