#include "common/core/attempt.h"

#include <assert.h>

#include "common/core/aborts.h"
#include "common/core/emit.h"
#include "common/core/move.h"
#include "common/core/pace.h"
#include "common/core/penalty.h"

void sl_attempt_wipe(struct sl_core *core)
{
	core->wipe_due = core->jobs > 0; /* they may still read the keys */
	if (core->wipe_due)
		return;
	memset(core->secrets.base, 0, core->secrets.used);
	core->at.keys = NULL;
}

/* Drop all of the attempt; results of its jobs are of an earlier epoch. The own Ready is withdrawn: with it,
 * a participant might still release. */
static void end_attempt(struct sl_core *core)
{
	core->parameters.failed |= core->view_checked;
	core->readys[core->config.self].record.present = core->digests[core->config.self].record.present =
		false;
	sl_emit_drop_held(core);
	sl_emit(core, SL_ACTION_WIPE);
	core->epoch++;
	core->view_built = false;
	core->view_checked = false;
	sl_attempt_wipe(core);
}

sl_ms sl_attempt_pause(const struct sl_core *core)
{
	uint32_t shift = core->refusals < 6 ? core->refusals : 6;
	sl_ms base = UINT64_C(500) << shift;
	uint64_t mix = (core->config.ids[core->config.self] * UINT64_C(0x9e3779b97f4a7c15)) ^
		       ((uint64_t)core->t << 32 | core->a) * UINT64_C(0xbf58476d1ce4e5b9);
	mix ^= mix >> 29;
	sl_ms pause = base / 2 + mix % (base / 2 + 1);
	return pause < 30000 ? pause : 30000;
}

/* Return true for a refusal that follows from the link states alone: the same link states would be refused
 * again, so that waiting cures nothing. */
static bool lasts(enum sl_reason reason)
{
	switch (reason) {
	case SL_REASON_ALONE:
	case SL_REASON_QUORUM:
	case SL_REASON_P_BOUND:
	case SL_REASON_P_IDS:
	case SL_REASON_ELEMENTS:
	case SL_REASON_WIDTH:
	case SL_REASON_ITERATIONS:
	case SL_REASON_ITERATIONS_RULE:
	case SL_REASON_OTHER_MODEL:
	case SL_REASON_ROSTER:
	case SL_REASON_HISTORY:
	case SL_REASON_FEW:
	case SL_REASON_TOLERANCE:
	case SL_REASON_MEMBERSHIP:
	case SL_REASON_PRUNED:
		return true;
	default:
		return false;
	}
}

/* Go on to the next attempt number. No number is used twice: a signature for one attempt must not count for
 * another one of the same view. Return false at SL_ATTEMPTS_MAX. */
static bool next_attempt(struct sl_core *core, enum sl_reason reason)
{
	sl_attempt highest = core->seen > core->a ? core->seen : core->a;
	if (reason == SL_REASON_SUPERSEDED)
		core->a = core->seen;
	else if (highest < SL_ATTEMPTS_MAX)
		core->a = highest + 1;
	else
		return false;
	return true;
}

void sl_attempt_exhausted(struct sl_core *core)
{
	sl_emit_report(core, SL_REPORT_EXHAUSTED);
	sl_emit_stop(core, SL_ERR_FULL);
}

void sl_attempt_leave(struct sl_core *core, enum sl_reason reason, bool model_invalidated)
{
	end_attempt(core);
	if (!next_attempt(core, reason)) {
		sl_attempt_exhausted(core);
		return;
	}
	core->not_before = 0;
	if (model_invalidated)
		sl_emit_report(core, SL_REPORT_MODEL_INVALIDATED)->model_invalidated.tolerance =
			core->config.parameters.tolerance;
	core->trained &= !model_invalidated;
	sl_move_to(core, core->trained ? SL_PHASE_DISCOVER : SL_PHASE_TRAIN);
}

struct sl_report *sl_attempt_fail(struct sl_core *core, enum sl_reason reason, bool refused)
{
	assert(core->phases[core->phase].fail != NULL);
	return core->phases[core->phase].fail(core, reason, refused);
}

struct sl_report *sl_attempt_fail_by(struct sl_core *core, uint32_t peer, enum sl_reason reason, bool refused)
{
	memset(core->missing, 0, sl_core_set_bytes(core));
	sl_bit_set(core->missing, peer);
	struct sl_report *report = sl_attempt_fail(core, reason, refused);
	report->peer = peer;
	return report;
}

/* Return the time at which MIX or CHECK is stalled, if nothing comes before. */
static sl_ms stalls_at(const struct sl_core *core)
{
	sl_ms silent = core->at.progress + core->config.stall_timeout_ms, slow = sl_pace_mixed(core);
	return silent < slow ? silent : slow;
}

/* A participant that recovers mixes no more, unless it lies: c of them alone end nothing that goes on. In
 * CHECK, honest ones recover for a dispute that the Checksums under way will show here, too. */
sl_ms sl_attempt_ends_at(const struct sl_core *core)
{
	const struct sl_attempt_state *at = &core->at;
	sl_ms end = stalls_at(core), since = at->progress > at->joined_at ? at->progress : at->joined_at;
	if (at->joined == SL_NOBODY)
		return end;
	if (core->phase == SL_PHASE_MIX && at->joined_count > core->view.agreed.tolerance)
		return 0;
	since += sl_core_hello_ms(&core->config);
	return since < end ? since : end;
}

void sl_attempt_stalled(struct sl_core *core)
{
	bool silent = core->at.progress + core->config.stall_timeout_ms <= sl_pace_mixed(core);
	if (core->at.joined != SL_NOBODY &&
	    core->now + core->config.stall_timeout_ms / 2 < stalls_at(core)) /* else others were as slow */
		sl_attempt_fail_by(core, core->at.joined, SL_REASON_JOINED, false);
	else
		sl_attempt_fail(core, silent ? SL_REASON_STALLED : SL_REASON_SLOW, false)->set = core->failed;
}

/* Another learner ends SHARE. Return true if this one was about to do so, since neighbours are too slow; set
 * core->failed to them. */
static bool about_to_end(struct sl_core *core, enum sl_reason reason)
{
	bool other = reason == SL_REASON_ABORTED || reason == SL_REASON_SUPERSEDED;
	return core->phase == SL_PHASE_SHARE && other && sl_pace_slow(core, true, core->failed);
}

struct sl_report *sl_attempt_abort(struct sl_core *core, enum sl_reason reason, bool refused)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_FAILED);
	report->reason = reason;
	bool slow = about_to_end(core, reason);
	if (!slow) /* this step may write `missing` again */
		memcpy(core->failed, core->missing, sl_core_set_bytes(core));
	if (core->phase == SL_PHASE_SHARE)
		sl_aborts_own(core, SL_ABORT_PROMISES, core->a, NULL);
	sl_penalty_failed(core, core->failed, slow ? SL_REASON_SLOW : reason);
	bool others_go_on =
		reason == SL_REASON_PRUNED && core->config.membership_change == SL_MEMBERSHIP_WARN;
	if (lasts(reason) && !others_go_on) /* without those with a penalty there may be no view */
		sl_penalty_none(core);
	sl_ms pause = refused ? sl_attempt_pause(core) : 0;
	sl_attempt_leave(core, reason, false);
	if (refused && !core->stopped) {
		core->not_before = lasts(reason) ? SL_NEVER : core->now + pause;
		core->refusals++;
	}
	return report;
}

void sl_attempt_lost(struct sl_core *core, uint32_t peer)
{
	if (sl_bit(core->view_neighbours, peer))
		sl_attempt_fail_by(core, peer, SL_REASON_LINK, false);
}

bool sl_attempt_split(struct sl_core *core)
{
	if (core->at.split_from == SL_NOBODY)
		return false;
	sl_attempt_fail_by(core, core->at.split_from, SL_REASON_READYS, false);
	return true;
}
