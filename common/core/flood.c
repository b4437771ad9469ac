#include "common/core/flood.h"

#include "common/core/aborts.h"
#include "common/core/conflict.h"
#include "common/core/agree.h"
#include "common/core/allowance.h"
#include "common/core/state_loss.h"
#include "common/core/attempt.h"
#include "common/core/compatible.h"
#include "common/core/discover.h"
#include "common/core/emit.h"
#include "common/core/held.h"
#include "common/core/model.h"
#include "common/core/ready.h"
#include "common/core/relay.h"
#include "common/core/split.h"
#include "common/core/penalty.h"
#include "common/core/view_build.h"

/* Compare two lists of numbers, the first number first: -1, 0 or 1. */
static int compare(const uint32_t *one, const uint32_t *other, size_t count)
{
	for (size_t k = 0; k < count; k++)
		if (one[k] != other[k])
			return one[k] < other[k] ? -1 : 1;
	return 0;
}

static int compare_link_states(const struct sl_link_state *one, const struct sl_link_state *other)
{
	return compare((const uint32_t[]){one->t, one->a, one->incarnation},
		       (const uint32_t[]){other->t, other->a, other->incarnation}, 3);
}

static int compare_aborts(const struct sl_abort *one, const struct sl_abort *other)
{
	return compare((const uint32_t[]){one->t, one->a, one->incarnation, one->says},
		       (const uint32_t[]){other->t, other->a, other->incarnation, other->says}, 4);
}

static bool our_roster(const struct sl_core *core, const struct sl_link_state *state)
{
	return memcmp(state->roster, core->config.scope.roster, SL_HASH_BYTES) == 0;
}

/* Store a link state and its candidates. One of another roster may name learners that are unknown here. It is
 * kept and passed on whole, so that every learner can report the difference. Return false if it cannot be
 * stored. */
static bool store_candidates(struct sl_core *core, struct sl_link_record *lr,
			     const struct sl_link_state *state)
{
	if (state->count > sl_core_candidates_max(core->config.roster_size))
		return false;
	for (uint32_t i = 0; i < state->count; i++)
		if (sl_core_index(core, state->candidates[i]) == UINT32_MAX && our_roster(core, state))
			return false;
	sl_relay_room(core, lr, state->count);
	memset(lr->named, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < state->count; i++) {
		uint32_t named = sl_core_index(core, state->candidates[i]);
		lr->candidates[i] = state->candidates[i];
		if (named != UINT32_MAX)
			sl_bit_set(lr->named, named);
	}
	core->flood_news = true;
	lr->twice = false;
	lr->state = *state;
	lr->state.candidates = lr->candidates;
	return true;
}

/* Return true if the view is built and does not contain `signer`: learners outside it cannot end its attempt.
 */
static bool outside(const struct sl_core *core, uint32_t signer)
{
	return core->view_built && core->view.position[signer] == UINT32_MAX;
}

/* Return true if the view contains an earlier incarnation of `signer`, or was built without the learner
 * because of one. The restarted learner does not know the attempt, and agrees with others on another view of
 * the same number. */
static bool started_again(const struct sl_core *core, uint32_t signer, const struct sl_link_state *state)
{
	bool busy = core->view_built && core->phase >= SL_PHASE_AGREE && core->phase <= SL_PHASE_SHARE;
	if (!busy || state->t != core->view.t || state->a != core->view.a)
		return false;
	return outside(core, signer)
		       ? sl_view_lacks(core, signer)
		       : state->incarnation > core->view.incarnations[core->view.position[signer]];
}

/* Move to the attempt of the link state if it is higher. An attempt that has a Ready is not left for it, and
 * no attempt for a learner that cannot be in its view. */
static void heed_attempt(struct sl_core *core, uint32_t signer, const struct sl_link_state *state)
{
	bool inside = core->view_built && !outside(core, signer);
	if (state->t != core->t || (!inside && sl_penalty_ignored(core, signer)))
		return;
	core->seen = state->a > core->seen ? state->a : core->seen;
	if (started_again(core, signer, state))
		sl_attempt_fail_by(core, signer, SL_REASON_ABORTED, false);
	if (state->a <= core->a)
		return;
	if (core->phase == SL_PHASE_TRAIN || core->phase == SL_PHASE_DISCOVER)
		core->a = state->a;
	else if (core->phase <= SL_PHASE_SHARE && !outside(core, signer)) /* not from READY on */
		sl_agree_superseded(core, signer, state->a);
}

/* `signer` signed two link states for one attempt: no view is agreed on with it, and one that contains it is
 * given up. */
static void equivocated(struct sl_core *core, uint32_t signer, const struct sl_link_state *other)
{
	struct sl_link_record *lr = &core->links[signer];
	if (!lr->twice && lr->state.t == core->t)
		sl_conflict(core, signer, &(struct sl_message){SL_MSG_LINK_STATE, {.link_state = lr->state}},
			    &(struct sl_message){SL_MSG_LINK_STATE, {.link_state = *other}});
	lr->twice = true;
	core->flood_news = true;
	if (core->phase >= SL_PHASE_AGREE && core->phase <= SL_PHASE_SHARE && core->view_built &&
	    lr->state.t == core->t && lr->state.a == core->a && !outside(core, signer))
		sl_attempt_fail_by(core, signer, SL_REASON_EQUIVOCATION, true);
}

/* Report a link state of an earlier round, once for each start of its signer: it has fallen behind or started
 * from an old checkpoint. */
static void stale(struct sl_core *core, uint32_t signer, const struct sl_link_state *state)
{
	if (!sl_emit_once(core, signer, SL_ONCE_STALE, state->incarnation))
		return;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_STALE);
	report->peer = signer;
	report->stale.t = state->t;
	memcpy(report->stale.digest, core->links[signer].state.previous, SL_HASH_BYTES);
}

void sl_flood_link_state(struct sl_core *core, uint32_t from, const struct sl_message *message)
{
	const struct sl_link_state *state = &message->link_state;
	uint32_t signer = sl_core_index(core, state->id);
	if (signer == UINT32_MAX) {
		sl_emit_reject(core, from, "a link state of a learner outside the roster");
		return;
	}
	if (signer == core->config.self)
		sl_state_loss_link_state(core, from, state);
	if (!sl_held_wanted(core, state))
		return;
	sl_allowance_claim(core, signer, state);
	if (signer != core->config.self) {
		struct sl_link_record *lr = &core->links[signer];
		int age = lr->record.present ? compare_link_states(state, &lr->state) : 1;
		if (age < 0)
			return;
		if (age == 0) {
			sl_held_set(core, SL_MSG_LINK_STATE, signer, from, true);
			if (memcmp(state->signature, lr->state.signature, SL_SIG_BYTES) != 0)
				equivocated(core, signer, state);
			return;
		}
		if (!sl_allowance_record(core, signer, state->t) ||
		    (state->t == core->t && sl_allowance_jumps(core, signer, state->a)))
			return;
		bool news = !lr->record.present || lr->state.t != state->t || state->t >= core->t;
		if (!store_candidates(core, lr, state)) {
			sl_emit_reject(core, from, "a link state naming a learner outside the roster");
			return;
		}
		if (!news)
			return; /* all learners know it already */
		sl_relay_record(core, SL_MSG_LINK_STATE, signer, from);
		sl_model_tell(core, signer);
		if (state->t < core->t)
			stale(core, signer, state);
		sl_discover_notice(core, signer, lr->named);
	}
	heed_attempt(core, signer, state);
}

/* The view of an unknown attempt may contain an earlier incarnation. It sent no Ready, since that would be on
 * record. */
static void heed_unknown(struct sl_core *core, const struct sl_ready *ready)
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

void sl_flood_ready(struct sl_core *core, uint32_t from, const struct sl_message *message)
{
	const struct sl_ready *ready = &message->ready;
	uint32_t signer = sl_core_index(core, ready->id);
	if (signer == UINT32_MAX || ready->t < core->t)
		return;
	if (signer == core->config.self) {
		sl_state_loss_ready(core, from, ready);
		return;
	}
	heed_unknown(core, ready);
	struct sl_ready_record *rr = &core->readys[signer];
	sl_conflict_ready(core, signer, ready);
	sl_split_ready(core, signer, ready);
	int age = rr->record.present ? compare((const uint32_t[]){ready->t, ready->a},
					       (const uint32_t[]){rr->ready.t, rr->ready.a}, 2)
				     : 1;
	if (age == 0)
		sl_held_set(core, SL_MSG_READY, signer, from, true);
	if (age <= 0 || !sl_allowance_record(core, signer, ready->t))
		return;
	rr->ready = *ready;
	sl_relay_record(core, SL_MSG_READY, signer, from);
	sl_ready_heard(core, signer);
}

/* `signer` never releases attempt `a` of round t. */
static void heed_abort(struct sl_core *core, uint32_t signer, sl_attempt a)
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

void sl_flood_abort(struct sl_core *core, uint32_t from, const struct sl_message *message)
{
	const struct sl_abort *abort_record = &message->abort;
	uint32_t signer = sl_core_index(core, abort_record->id);
	if (signer == UINT32_MAX || abort_record->t < core->t)
		return;
	if (signer == core->config.self) {
		sl_state_loss_abort(core, from, abort_record);
		return;
	}
	struct sl_abort_record *fr = &core->aborts[signer];
	sl_conflict_abort(core, signer, abort_record);
	uint32_t news = abort_record->t == core->t ? sl_aborts_take(core, signer, abort_record) : 0;
	int age = fr->record.present ? compare_aborts(abort_record, &fr->abort) : 1;
	if (age == 0)
		sl_held_set(core, SL_MSG_ABORT, signer, from, true);
	if (age > 0 && sl_allowance_record(core, signer, abort_record->t)) {
		fr->abort = *abort_record;
		sl_relay_record(core, SL_MSG_ABORT, signer, from);
	}
	if (news != 0 && age <= 0)
		sl_aborts_pass(core, from, abort_record); /* the flood goes on with the latest of a signer */
	if ((news & SL_ABORT_UNRELEASED) != 0)
		heed_abort(core, signer, abort_record->a);
}
