#include "common/core/abort.h"

#include "common/core/attempt.h"
#include "common/core/attempt_number.h"
#include "common/core/releases.h"

void sl_abort_heard(struct sl_core *core, uint32_t signer)
{
	sl_releases_heard(core, signer);
	bool sharing = core->phase == SL_PHASE_SHARE || core->phase == SL_PHASE_READY;
	if (sharing && core->view.position[signer] != UINT32_MAX &&
	    sl_releases_aborted(core, signer, core->view.a))
		sl_attempt_fail(core, SL_REASON_ABORTED, true)->peer = signer;
}

/* The view of an unknown attempt may contain an earlier incarnation. If that had sent its Ready, the attempt
 * would be on record; so it never released. Exception: the own Ready comes back. Then the record was lost,
 * and the attempt may have been released. */
void sl_abort_unknown(struct sl_core *core, const struct sl_ready *ready)
{
	bool known =
		(core->view_checked && core->view.a == ready->a) || ready->a <= core->release_log.aborted;
	if (core->t != core->started || ready->t != core->t || known || sl_releases_has(core, ready->a) ||
	    sl_attempt_number_jumps(core, sl_core_index(core, ready->id), ready->a))
		return;
	if (ready->id == core->config.ids[core->config.self] && !sl_releases_note(core, ready->a))
		return;
	core->pending_abort = ready->a > core->pending_abort ? ready->a : core->pending_abort;
	core->seen = ready->a > core->seen ? ready->a : core->seen;
	bool busy = core->phase == SL_PHASE_AGREE || core->phase == SL_PHASE_SHARE;
	if (!busy || core->a >= core->pending_abort)
		return; /* equal: the Ready may be of the view that is about to be agreed on */
	struct sl_report *report = sl_attempt_fail(core, SL_REASON_SUPERSEDED, false);
	report->peer = sl_core_index(core, ready->id);
	report->why.attempt.a = core->pending_abort;
}

void sl_abort_pending(struct sl_core *core)
{
	bool free = core->phase == SL_PHASE_TRAIN || core->phase == SL_PHASE_DISCOVER;
	bool committed = core->phase == SL_PHASE_COMMIT || core->phase == SL_PHASE_CATCHUP; /* too late */
	if (core->pending_abort <= core->release_log.aborted || core->pending_abort >= SL_ATTEMPTS_MAX ||
	    committed)
		return;
	if (free && core->a <= core->pending_abort)
		core->a = core->pending_abort + 1;
	if (core->a > core->pending_abort)
		sl_releases_abort_own(core, core->pending_abort);
}
