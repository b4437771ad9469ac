#include "common/core/abort.h"

#include "common/core/attempt.h"
#include "common/core/attempt_number.h"
#include "common/core/releases.h"

void sl_abort_heard(struct sl_core *core, uint32_t signer)
{
	sl_ledger_heard(core, signer);
	bool sharing = core->phase == SL_PHASE_SHARE || core->phase == SL_PHASE_READY;
	if (sharing && core->view.position[signer] != UINT32_MAX &&
	    sl_releases_given_up(core, signer, core->view.a))
		sl_attempt_fail(core, SL_REASON_ABORTED, true)->peer =
			signer; /* the signer knows whether a pause helps */
}

/* A view may contain this learner as it was before a crash. Had it sent its Ready in that attempt, the
 * attempt would be on record. So it never released, and aborts the attempt (PROTOCOL.md §14.3 Restart).
 * Exception: its own Ready comes back to it. Then the record was lost, and the learner must not deny a
 * release. */
void sl_abort_unknown(struct sl_core *core, const struct sl_ready *ready)
{
	bool known =
		(core->view_checked && core->view.a == ready->a) || ready->a <= core->release_log.aborted;
	if (core->t != core->started || ready->t != core->t || known || sl_ledger_has(core, ready->a) ||
	    sl_attempt_number_far(core, ready->a))
		return;
	if (ready->id == core->config.ids[core->config.self] && !sl_release_log_note(core, ready->a))
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

/* Return true if round t is committed, here or elsewhere. No learner needs an Abort of it then, and after the
 * commit the disk takes none. */
static bool is_committed(const struct sl_core *core)
{
	return core->phase == SL_PHASE_COMMIT || core->phase == SL_PHASE_CATCHUP;
}

void sl_abort_pending(struct sl_core *core)
{
	bool free = core->phase == SL_PHASE_TRAIN || core->phase == SL_PHASE_DISCOVER;
	if (core->pending_abort <= core->release_log.aborted || core->pending_abort >= SL_ATTEMPTS_MAX ||
	    is_committed(core))
		return;
	if (free && core->a <= core->pending_abort)
		core->a = core->pending_abort + 1;
	if (core->a > core->pending_abort)
		sl_abort_own(core, core->pending_abort);
}
