#include "common/core/abort.h"

#include "common/core/aborts.h"
#include "common/core/allowance.h"
#include "common/core/attempt.h"

void sl_abort_heard(struct sl_core *core, uint32_t signer, sl_attempt a)
{
	bool here = core->view_checked && a == core->view.a && core->view.position[signer] != UINT32_MAX;
	bool ends =
		core->phase == SL_PHASE_SHARE || core->phase == SL_PHASE_MIX; /* READY, RECOVER: advance */
	if (!here)
		return;
	core->at.progress = core->now;
	if (ends)
		sl_attempt_fail_by(core, signer, SL_REASON_ABORTED, true);
}

/* The view of an unknown attempt may contain an earlier incarnation. It sent no Ready, since that would be on
 * record. */
void sl_abort_unknown(struct sl_core *core, const struct sl_ready *ready)
{
	bool known = (core->view_checked && core->view.a == ready->a) || ready->a <= core->aborted ||
		     !sl_aborts_may_deny(core, ready->a);
	if (core->t != core->started || ready->t != core->t || known ||
	    sl_allowance_jumps(core, sl_core_index(core, ready->id), ready->a))
		return;
	core->pending_abort = ready->a > core->pending_abort ? ready->a : core->pending_abort;
	core->seen = ready->a > core->seen ? ready->a : core->seen;
	bool busy = core->phase == SL_PHASE_AGREE || core->phase == SL_PHASE_SHARE;
	if (!busy || core->a >= core->pending_abort)
		return; /* equal: the Ready may be of the view that is about to be agreed on */
	sl_attempt_fail_by(core, sl_core_index(core, ready->id), SL_REASON_SUPERSEDED, false)->why.attempt.a =
		core->pending_abort;
}

void sl_abort_pending(struct sl_core *core)
{
	bool free = core->phase == SL_PHASE_TRAIN || core->phase == SL_PHASE_DISCOVER;
	bool committed = core->phase == SL_PHASE_COMMIT || core->phase == SL_PHASE_CATCHUP ||
			 core->phase == SL_PHASE_DONE; /* too late */
	if (committed || sl_core_abstains(core))
		return;
	sl_aborts_deny(core);
	if (core->pending_abort <= core->aborted || core->pending_abort >= SL_ATTEMPTS_MAX)
		return;
	if (free && core->a <= core->pending_abort)
		core->a = core->pending_abort + 1;
	if (core->a > core->pending_abort && sl_aborts_may_deny(core, core->pending_abort))
		sl_aborts_own(core, SL_ABORT_PROMISES, core->pending_abort, NULL);
}
