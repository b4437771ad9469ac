#include "common/core/state_loss.h"

#include "common/core/aborts.h"
#include "common/core/attempt.h"
#include "common/core/emit.h"
#include "common/core/held.h"
#include "common/core/open.h"

/* --- reminding --- */

/* Send `peer` a record of its own. */
static void show(struct sl_core *core, uint32_t peer, const struct sl_message *message)
{
	sl_held_set(core, message->kind, peer, peer, true);
	sl_emit_send(core, sl_emit_only(core, peer), message, false);
}

void sl_state_loss_remind(struct sl_core *core, uint32_t peer)
{
	const struct sl_link_record *lr = &core->links[peer];
	const struct sl_ready_record *rr = &core->readys[peer];
	if (lr->record.present && lr->state.t >= core->t)
		show(core, peer, &(struct sl_message){.kind = SL_MSG_LINK_STATE, .link_state = lr->state});
	if (rr->record.present && rr->ready.t >= core->t)
		show(core, peer, &(struct sl_message){.kind = SL_MSG_READY, .ready = rr->ready});
	const struct sl_abort_record *ar = &core->aborts[peer];
	if (ar->record.present && ar->abort.t >= core->t)
		show(core, peer, &(struct sl_message){.kind = SL_MSG_ABORT, .abort = ar->abort});
	sl_open_remind(core, peer);
}

/* --- being reminded --- */

/* Abstain from all rounds up to `t`: an attempt without a Ready ends; an open one is left when it is over. */
static void abstain(struct sl_core *core, uint32_t peer, sl_round t, const char *record)
{
	if (t <= core->abstains || t <= core->cleared)
		return;
	core->abstains = t;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_ABSTAINS);
	report->peer = peer;
	report->abstains.t = t;
	report->abstains.record = record;
	if (core->phase == SL_PHASE_AGREE || core->phase == SL_PHASE_SHARE)
		sl_attempt_leave(core, SL_REASON_ABORTED, false);
	else
		sl_emit_hello(core, core->linked);
}

/* A LinkState of this incarnation is known up to the last attempt that it signed for. With a quorum of all
 * learners, only a Ready or an Abort shows that something was forgotten that matters. */
void sl_state_loss_link_state(struct sl_core *core, uint32_t peer, const struct sl_link_state *state)
{
	const struct sl_link_record *own = &core->links[core->config.self];
	bool all = core->config.parameters.quorum == core->config.roster_size;
	bool signed_here = own->record.present && own->state.t == state->t && own->state.a >= state->a;
	if (all || state->t < core->t || state->incarnation < core->config.incarnation)
		return;
	if (state->incarnation > core->config.incarnation || !signed_here)
		abstain(core, peer, state->t, "a link state");
}

void sl_state_loss_ready(struct sl_core *core, uint32_t peer, const struct sl_ready *ready)
{
	bool known = ready->t == core->t && !sl_aborts_may_deny(core, ready->a);
	if (ready->t < core->t || known)
		return;
	if (ready->t == core->t)
		sl_aborts_readied(core, ready->a); /* never sign that there was none */
	abstain(core, peer, ready->t, "a Ready");
}

void sl_state_loss_abort(struct sl_core *core, uint32_t peer, const struct sl_abort *abort_record)
{
	uint32_t said = sl_aborts_said(core, core->config.self, abort_record->a);
	uint32_t promises = abort_record->says & SL_ABORT_PROMISES; /* STUCK is on no disk */
	bool stands = (promises & ~said) == 0;
	bool open = core->view_checked && core->view.a == abort_record->a;
	bool over = !open && !sl_aborts_may_deny(core, abort_record->a);
	bool known = abort_record->t == core->t && (stands || over || abort_record->a <= core->aborted);
	if (promises != 0 && abort_record->t >= core->t && !known)
		abstain(core, peer, abort_record->t, "an Abort");
}

void sl_state_loss_clear(struct sl_core *core)
{
	core->cleared = core->abstains;
	core->abstains = 0;
	sl_emit_hello(core, core->linked);
}
