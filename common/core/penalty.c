#include "common/core/penalty.h"

#include "common/core/compatible.h"
#include "common/core/emit.h"
#include "common/core/pace.h"

#define DOUBLINGS_MOST 6u /* at most 64 rounds */
#define POINTS_MOST 64u	  /* a liar soon has more than a learner that it hinders */

/* What each fault costs. With y points after it a peer is left out up to the end of round t + 2^(y-e-1) - 1,
 * where e is max(c, 1) if the fault is excused, else 0. */
static const struct {
	uint32_t points;
	bool excused;
} faults[SL_FAULTS] = {
	[SL_FAULT_EXCUSABLE] = {1, true},
	[SL_FAULT_OWED] = {1, false},
	[SL_FAULT_LIED] = {3, false},
	/* it is not waited for */
	[SL_FAULT_LATE] = {0, false},
	[SL_FAULT_MUTE] = {0, false},
};

/* --- the rule --- */

bool sl_penalty_out(const struct sl_core *core, uint32_t i)
{
	return core->t <= core->peers[i].penalty.until;
}

bool sl_penalty_silent(const struct sl_core *core, uint32_t i)
{
	return core->peers[i].tried && !sl_bit(core->linked, i) && !core->config.range_by_control;
}

bool sl_penalty_ignored(const struct sl_core *core, uint32_t i)
{
	return (sl_penalty_out(core, i) && sl_bit(core->unwanted, i)) || sl_compatible_differs(core, i);
}

/* Return true if an Abort of peer `i` for the present attempt, or for one above it, is held. */
static bool has_aborted(const struct sl_core *core, uint32_t i)
{
	const struct sl_abort_record *ar = &core->aborts[i];
	return ar->record.present && ar->abort.t == core->t && ar->abort.a >= core->a;
}

enum sl_reason sl_penalty_difference(const struct sl_core *core, uint32_t i)
{
	if (sl_compatible_differs(core, i))
		return sl_compatible_difference(core, &core->links[i]);
	return has_aborted(core, i) ? SL_REASON_ABORTED : SL_REASON_NONE;
}

static bool abstains(const struct sl_core *core, uint32_t i)
{
	const struct sl_peer *p = &core->peers[i];
	return sl_bit(core->linked, i) && p->hello && p->status == SL_PEER_STATUS_ABSTAINS;
}

enum sl_regard sl_penalty_regard(const struct sl_core *core, uint32_t i)
{
	if (sl_penalty_ignored(core, i) || has_aborted(core, i) || abstains(core, i))
		return SL_REGARD_LEFT_OUT;
	const sl_round *last = core->peers[i].penalty.last;
	bool spare = sl_penalty_silent(core, i) || last[SL_FAULT_LATE] != 0 || last[SL_FAULT_MUTE] != 0;
	return spare ? SL_REGARD_OPTIONAL : SL_REGARD_AWAITED;
}

bool sl_penalty_others_begin(const struct sl_core *core, sl_ms since)
{
	uint64_t begun = 0;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		const struct sl_link_record *lr = &core->links[i];
		begun += i != core->config.self && lr->record.present && lr->record.since >= since &&
			 lr->state.t == core->t && lr->state.a >= core->a && lr->state.count > 0 &&
			 !sl_penalty_ignored(core, i);
	}
	return begun > core->config.parameters.tolerance;
}

/* --- faults --- */

/* Return true if peer `i` has signed a link state for the present attempt, or a later one. */
static bool has_signed(const struct sl_core *core, uint32_t i)
{
	const struct sl_link_record *lr = &core->links[i];
	return lr->record.present && lr->state.t == core->t && lr->state.a >= core->a;
}

sl_ms sl_penalty_waits_until(const struct sl_core *core, uint32_t i)
{
	const struct sl_link_record *lr = &core->links[i];
	bool signed_one = lr->record.present && lr->state.t == core->t;
	if (signed_one || core->begun_at == SL_NEVER)
		return 0;
	return core->begun_at + core->config.straggler_timeout_ms + core->config.stall_timeout_ms;
}

/* Return the fault of a peer whose link state is missing, or was when another attempt overtook this one.
 * Where it may wait for a straggler, others may come to the end of this time a little earlier, and end the
 * attempt.
 */
static enum sl_fault fault_of_unsigned(const struct sl_core *core, uint32_t i)
{
	sl_ms earlier = core->now + core->config.stall_timeout_ms / 2;
	if (has_signed(core, i))
		return SL_FAULT_EXCUSABLE; /* it has begun another attempt, or names one that does not sign */
	return earlier < sl_penalty_waits_until(core, i) ? SL_FAULT_NONE : SL_FAULT_OWED;
}

static enum sl_fault fault_of(const struct sl_core *core, uint32_t i, enum sl_reason reason)
{
	switch (reason) {
	case SL_REASON_FLOOD:
	case SL_REASON_SUPERSEDED:
		return fault_of_unsigned(core, i);
	case SL_REASON_SLOW:
	case SL_REASON_STALLED:
		if (core->phase < SL_PHASE_RELEASE)
			return SL_FAULT_OWED;
		/* in mixing, it may wait for another one itself, or be as quick as in SHARE */
		return reason == SL_REASON_SLOW && sl_pace_had_enough(core) ? SL_FAULT_NONE
									    : SL_FAULT_EXCUSABLE;
	case SL_REASON_BAD_SHARE:
	case SL_REASON_BAD_DEPOSIT:
	case SL_REASON_BAD_STATE:
		return SL_FAULT_LIED;
	case SL_REASON_JOINED: /* of more than c that recover, one is honest and has a cause */
		return core->at.joined_count > core->view.agreed.tolerance || sl_pace_had_enough(core)
			       ? SL_FAULT_NONE
			       : SL_FAULT_EXCUSABLE;
	case SL_REASON_READYS: /* it may be another one that signed two */
	case SL_REASON_ABORTED:
	case SL_REASON_LINK:
		return SL_FAULT_EXCUSABLE;
	default:
		return SL_FAULT_NONE;
	}
}

/* A window closes without the peer. One that trains for ever costs this in rounds with growing distances. */
static void late_again(const struct sl_core *core, struct sl_penalty *s)
{
	uint32_t doublings = s->windows < DOUBLINGS_MOST ? s->windows : DOUBLINGS_MOST;
	s->windows++;
	s->late_until = core->t - 1 + (1u << doublings);
}

/* Note `fault` of peer `i`. Return true if the peer is left out of this round for it. */
static bool note(struct sl_core *core, uint32_t i, enum sl_fault fault)
{
	struct sl_peer *p = &core->peers[i];
	struct sl_penalty *s = &p->penalty;
	sl_ms patient = core->config.stall_timeout_ms;
	if (fault == SL_FAULT_NONE)
		return false;
	uint32_t c = (uint32_t)core->config.parameters.tolerance, liars = c > 0 ? c : 1;
	uint32_t points = s->points + faults[fault].points, excused = faults[fault].excused ? liars : 0;
	s->points = points < POINTS_MOST ? points : POINTS_MOST;
	if (fault == SL_FAULT_LATE && s->last[fault] != core->t)
		late_again(core, s);
	s->last[fault] = core->t;
	if (fault == SL_FAULT_OWED) { /* not awaited before it comes of its own accord; then longer */
		s->last[SL_FAULT_LATE] = core->t;
		p->ready_ms = p->ready_ms > patient ? p->ready_ms : patient;
	}
	if (points <= excused || faults[fault].points == 0)
		return false;
	uint32_t doublings = points - excused - 1;
	sl_round until = core->t - 1 + (1u << (doublings < DOUBLINGS_MOST ? doublings : DOUBLINGS_MOST));
	s->until = until > s->until ? until : s->until;
	return true;
}

void sl_penalty_failed(struct sl_core *core, const uint64_t *set, enum sl_reason reason)
{
	uint64_t any = 0;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		sl_bit_clear(core->penalized, i);
		if (i == core->config.self || !sl_bit(set, i) || !note(core, i, fault_of(core, i, reason)))
			continue;
		sl_bit_set(core->penalized, i);
		any++;
	}
	if (any > 0)
		sl_emit_report(core, SL_REPORT_PENALTY)->set = core->penalized;
}

void sl_penalty_lied(struct sl_core *core, uint32_t peer)
{
	if (core->peers[peer].penalty.last[SL_FAULT_LIED] != core->t)
		note(core, peer, SL_FAULT_LIED);
}

void sl_penalty_went_back(struct sl_core *core, uint32_t peer)
{
	note(core, peer, SL_FAULT_EXCUSABLE);
}

void sl_penalty_none(struct sl_core *core)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		core->peers[i].penalty.until = 0;
}

void sl_penalty_clear(struct sl_core *core, uint32_t i)
{
	struct sl_penalty *s = &core->peers[i].penalty;
	s->windows -= s->windows > 0;
	for (uint32_t k = 0; k < SL_FAULTS; k++)
		if (faults[k].points > 0 && s->last[k] == core->t)
			return;
	s->until = 0;
	s->points -= s->points > 0;
}

void sl_penalty_late(struct sl_core *core, const uint64_t *late)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		bool mute = !core->peers[i].hello;
		if (!sl_bit(late, i) || !sl_bit(core->linked, i))
			continue;
		if (mute && core->peers[i].penalty.last[SL_FAULT_MUTE] == 0)
			sl_compatible_report(core, i, SL_REASON_MUTE);
		note(core, i, mute ? SL_FAULT_MUTE : SL_FAULT_LATE);
	}
}

/* A peer that has come to this round is not late any more; one for which the window of this round was too
 * short must be ready. */
static void notice_arrivals(struct sl_core *core)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		struct sl_peer *p = &core->peers[i];
		bool trains = p->status == SL_PEER_STATUS_TRAINING || p->status == SL_PEER_STATUS_FAILING;
		bool still = (trains && core->t <= p->penalty.late_until) ||
			     p->penalty.last[SL_FAULT_OWED] == core->t;
		if (p->hello && p->t == core->t && !still)
			p->penalty.last[SL_FAULT_LATE] = 0;
		if (p->hello)
			p->penalty.last[SL_FAULT_MUTE] = 0;
	}
}

/* --- the quorum --- */

/* Return true if the latest link state of learner `i` is of this round or of the one before. */
static bool is_recent(const struct sl_core *core, uint32_t i)
{
	return core->links[i].record.present && core->links[i].state.t + 1 >= core->t;
}

/* Add to `reached` the learners that share an edge with `i`: the two have named each other, and neither is
 * left out. */
static void add_neighbours(const struct sl_core *core, uint32_t i, uint64_t *reached)
{
	if (!is_recent(core, i))
		return;
	for (size_t w = 0; w < sl_core_words(core); w++) {
		uint64_t named = core->links[i].named[w] & ~reached[w] & ~core->unwanted[w];
		for (; named != 0; named &= named - 1) {
			uint32_t j = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(named);
			if (is_recent(core, j) && sl_bit(core->links[j].named, i))
				sl_bit_set(reached, j);
		}
	}
}

/* Return the number of learners that this one reaches without those that are left out, by what it knows of
 * the edges: itself, the peers that are ready, and on from these by recent link states. */
static uint64_t count_reached(struct sl_core *core)
{
	uint64_t *reached = core->ready_set, *passed = core->eligible;
	memset(reached, 0, sl_core_set_bytes(core));
	memset(passed, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (sl_bit(core->range, i) && sl_core_peer_ready(core, i) && !sl_bit(core->unwanted, i))
			sl_bit_set(reached, i);
	sl_bit_set(reached, core->config.self);
	sl_bit_set(passed, core->config.self);
	for (bool further = true; further;) {
		further = false;
		for (uint32_t i = 0; i < core->config.roster_size; i++) {
			if (!sl_bit(reached, i) || sl_bit(passed, i))
				continue;
			sl_bit_set(passed, i);
			add_neighbours(core, i, reached);
			further = true;
		}
	}
	return sl_bit_count(reached, sl_core_words(core));
}

/* Leave out those with more than `level` points. Return true if a quorum is reached without them,
 * and enough others are ready for the privacy check. */
static bool leave_out_above(struct sl_core *core, uint32_t level)
{
	const struct sl_parameters *own = &core->config.parameters;
	uint64_t others = 0;
	memset(core->unwanted, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		bool out = sl_penalty_out(core, i) && core->peers[i].penalty.points > level;
		if (out)
			sl_bit_set(core->unwanted, i);
		others += !out && sl_bit(core->range, i) && sl_core_peer_ready(core, i);
	}
	if (others < own->tolerance + 1)
		return false;
	return others + 1 >= own->quorum || count_reached(core) >= own->quorum;
}

void sl_penalty_update(struct sl_core *core)
{
	uint32_t most = 0;
	notice_arrivals(core);
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (sl_penalty_out(core, i) && core->peers[i].penalty.points > most)
			most = core->peers[i].penalty.points;
	memset(core->unwanted, 0, sl_core_set_bytes(core));
	for (uint32_t level = 0; most > 0 && !leave_out_above(core, level) && level < most; level++)
		;
}
