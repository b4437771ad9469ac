/* Every learner's latest record is kept, and goes once over each link in range that is not known to have it.
 */
#include "common/core/state.h"

/* Actions that a pump leaves to the rest of the step. */
#define RESERVE 192u
/* What a round may have failed while a learner was away: some hours. */
#define LEAP 1000u

static int compare_age(sl_round t, sl_attempt a, uint32_t incarnation, const struct sl_link_state *other)
{
	if (t != other->t)
		return t < other->t ? -1 : 1;
	if (a != other->a)
		return a < other->a ? -1 : 1;
	if (incarnation != other->incarnation)
		return incarnation < other->incarnation ? -1 : 1;
	return 0;
}

static void fresh(struct sl_core *core, struct sl_record *record, uint32_t from)
{
	record->present = true;
	record->since = core->now;
	memset(record->sent, 0, sl_core_set_bytes(core));
	sl_bit_set(record->sent, from);
	core->flood_dirty = true;
}

static bool our_roster(const struct sl_core *core, const struct sl_link_state *state)
{
	return memcmp(state->roster, core->config.scope.roster, SL_HASH_BYTES) == 0;
}

/* With another roster than ours it may name learners unknown here. It is kept all the same, since everybody
 * has to say what is wrong; but it has to be passed on whole. */
static bool store_candidates(struct sl_core *core, struct sl_link_record *lr,
			     const struct sl_link_state *state)
{
	if (state->count > sl_core_candidates_max(core->config.roster_size))
		return false;
	for (uint32_t i = 0; i < state->count; i++)
		if (sl_core_index(core, state->candidates[i]) == UINT32_MAX && our_roster(core, state))
			return false;
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

/* Whoever is not in the view cannot end the attempt of those who are: left out, it would try again and again.
 */
static bool outside(const struct sl_core *core, uint32_t signer)
{
	return core->view_built && core->view.position[signer] == UINT32_MAX;
}

bool sl_flood_far(const struct sl_core *core, sl_attempt a)
{
	return a > (core->seen > core->a ? core->seen : core->a) + LEAP;
}

/* Attempt numbers rise by ones, and are used up in the end: a leap is believed when c others make it too.
 * Until then it is neither kept nor passed on. */
bool sl_flood_jump(struct sl_core *core, uint32_t signer, const struct sl_link_state *state)
{
	uint64_t jumped_to = 0;
	if (state->t != core->t || !sl_flood_far(core, state->a))
		return false;
	core->peers[signer].jumped_to = state->a;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		jumped_to += core->peers[i].jumped_to + LEAP >= state->a;
	return jumped_to <= core->config.parameters.tolerance && jumped_to + 1 < core->config.roster_size;
}

/* Whether the view counts on what its signer was before it started again: that one has forgotten the attempt,
 * and what the others agree on with it now is another view of the same number. */
static bool started_again(const struct sl_core *core, uint32_t signer, const struct sl_link_state *state)
{
	return core->view_built && core->phase >= SL_PHASE_AGREE && core->phase <= SL_PHASE_SHARE &&
	       state->t == core->view.t && state->a == core->view.a && !outside(core, signer) &&
	       state->incarnation > core->view.incarnations[core->view.position[signer]];
}

/* a = 1 + the highest seen signed: who hears a higher one moves to it, but not after release. */
static void heed_attempt(struct sl_core *core, uint32_t signer, const struct sl_link_state *state)
{
	if (state->t != core->t || core->peers[signer].quarantined != 0)
		return;
	core->seen = state->a > core->seen ? state->a : core->seen;
	if (started_again(core, signer, state))
		sl_attempt_fail(core, SL_REASON_ABORTED, false)->peer = signer;
	if (state->a <= core->a)
		return;
	if (core->phase == SL_PHASE_TRAIN || core->phase == SL_PHASE_DISCOVER)
		core->a = state->a;
	else if (core->phase <= SL_PHASE_SHARE &&
		 !outside(core, signer)) { /* a Ready is not taken back for this */
		struct sl_report *report = sl_attempt_fail(core, SL_REASON_SUPERSEDED, false);
		report->peer = signer;
		report->n[0] = state->a;
	}
}

/* Heard before this learner freezes, it is remembered for the view; once the view may be built, it ends the
 * attempt. */
static void equivocated(struct sl_core *core, uint32_t signer, const struct sl_link_state *other)
{
	struct sl_link_record *lr = &core->links[signer];
	if (!lr->twice && lr->state.t == core->t &&
	    core->peers[signer].accused != core->t) { /* once a round is enough */
		core->peers[signer].accused = core->t;
		struct sl_report *report = sl_emit_report(core, SL_REPORT_EVIDENCE);
		report->peer = signer;
		report->evidence[0] = &lr->state;
		report->evidence[1] = other;
	}
	lr->twice = true;
	if (core->phase >= SL_PHASE_AGREE && core->phase <= SL_PHASE_SHARE && lr->state.t == core->t &&
	    lr->state.a == core->a)
		sl_attempt_fail(core, SL_REASON_EQUIVOCATION, true)->peer = signer;
}

/* Of a round that is over here: its signer has fallen behind, or comes with an old checkpoint. Everybody is
 * to know. */
static void stale(struct sl_core *core, uint32_t signer, const struct sl_link_state *state)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_STALE);
	report->peer = signer;
	report->n[0] = state->t;
	report->hash = core->links[signer].state.previous;
}

/* Whether a link state is passed on: of this round or a later one, or one that only says where its signer
 * stands. */
static bool of_interest(const struct sl_core *core, const struct sl_link_state *state)
{
	return state->t >= core->t || state->count == 0;
}

void sl_flood_link_state(struct sl_core *core, uint32_t from, const struct sl_link_state *state)
{
	uint32_t signer = sl_core_index(core, state->id);
	if (signer == UINT32_MAX) {
		sl_emit_reject(core, from, "a link state of somebody outside the roster");
		return;
	}
	if (!of_interest(core, state) || sl_flood_jump(core, signer, state))
		return;
	if (signer != core->config.self) {
		struct sl_link_record *lr = &core->links[signer];
		int age = lr->record.present ? compare_age(state->t, state->a, state->incarnation, &lr->state)
					     : 1;
		if (age < 0)
			return;
		if (age == 0) {
			sl_bit_set(lr->record.sent, from);
			if (memcmp(state->signature, lr->state.signature, SL_SIG_BYTES) != 0)
				equivocated(core, signer, state);
			return;
		}
		bool news = !lr->record.present || lr->state.t != state->t || state->t >= core->t;
		if (!store_candidates(core, lr, state)) {
			sl_emit_reject(core, from, "a link state naming somebody outside the roster");
			return;
		}
		if (!news)
			return; /* that it stands there is known to everybody */
		fresh(core, &lr->record, from);
		if (state->t < core->t)
			stale(core, signer, state);
		sl_discover_notice(core, signer, lr->named);
	}
	heed_attempt(core, signer, state);
}

void sl_flood_own_link_state(struct sl_core *core, const uint64_t *candidates)
{
	struct sl_link_record *lr = &core->links[core->config.self];
	struct sl_link_state *state = &lr->state;
	*state = (struct sl_link_state){.id = core->config.ids[core->config.self],
					.incarnation = core->config.incarnation,
					.t = core->t,
					.a = core->a,
					.parameters = core->config.parameters,
					.candidates = lr->candidates};
	memcpy(state->key, core->config.key, sizeof state->key);
	memcpy(state->roster, core->config.scope.roster, sizeof state->roster);
	state->roster_size = core->config.roster_size;
	memcpy(state->previous, core->previous, sizeof state->previous);
	memset(lr->named, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (sl_bit(candidates, i)) {
			lr->candidates[state->count++] = core->config.ids[i];
			sl_bit_set(lr->named, i);
		}
	core->flood_news = true;
	fresh(core, &lr->record, core->config.self);
}

void sl_flood_ready(struct sl_core *core, uint32_t from, const struct sl_ready *ready)
{
	uint32_t signer = sl_core_index(core, ready->id);
	if (signer == UINT32_MAX || ready->t < core->t)
		return;
	sl_abort_unknown(core, ready);
	if (signer == core->config.self)
		return;
	struct sl_ready_record *rr = &core->readys[signer];
	if (rr->record.present &&
	    (ready->t < rr->ready.t || (ready->t == rr->ready.t && ready->a <= rr->ready.a))) {
		if (ready->t == rr->ready.t && ready->a == rr->ready.a)
			sl_bit_set(rr->record.sent, from);
		return;
	}
	rr->ready = *ready;
	fresh(core, &rr->record, from);
}

void sl_flood_own_ready(struct sl_core *core)
{
	fresh(core, &core->readys[core->config.self].record, core->config.self);
}

void sl_flood_own_abort(struct sl_core *core)
{
	fresh(core, &core->aborts[core->config.self].record, core->config.self);
}

static int compare_aborts(const struct sl_abort *a, const struct sl_abort *b)
{
	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	if (a->closed != b->closed)
		return a->closed < b->closed ? -1 : 1;
	return a->incarnation < b->incarnation ? -1 : a->incarnation > b->incarnation;
}

void sl_flood_abort(struct sl_core *core, uint32_t from, const struct sl_abort *abort_record)
{
	uint32_t signer = sl_core_index(core, abort_record->id);
	if (signer == UINT32_MAX || abort_record->t < core->t || signer == core->config.self)
		return;
	struct sl_abort_record *fr = &core->aborts[signer];
	int age = fr->record.present ? compare_aborts(abort_record, &fr->abort_record) : 1;
	if (age == 0)
		sl_bit_set(fr->record.sent, from);
	if (age <= 0)
		return;
	fr->abort_record = *abort_record;
	fresh(core, &fr->record, from);
	if (abort_record->t == core->t)
		sl_abort_heard(core, signer);
}

/* A link that comes up knows nothing. */
void sl_flood_forget(struct sl_core *core, uint32_t link)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		sl_bit_clear(core->links[i].record.sent, link);
		sl_bit_clear(core->readys[i].record.sent, link);
		sl_bit_clear(core->aborts[i].record.sent, link);
	}
	core->flood_dirty = true;
}

/* Whether those whom its signer named are left to it: it has a link to each, or had one. A fence does not
 * wait for that. */
static bool left_to_signer(const struct sl_core *core, uint32_t origin, const struct sl_record *record)
{
	const struct sl_link_record *lr = &core->links[origin];
	return origin != core->config.self && core->now < record->since + core->config.relay_ms &&
	       lr->record.present && lr->state.t == core->t && record != &core->aborts[origin].record;
}

static void pump(struct sl_core *core, uint32_t origin, struct sl_record *record,
		 const struct sl_message *message)
{
	uint64_t any = 0, left = 0;
	bool spare = left_to_signer(core, origin, record);
	for (size_t w = 0; w < sl_core_words(core); w++) {
		uint64_t open = core->reach[w] & ~record->sent[w],
			 signers = spare ? open & core->links[origin].named[w] : 0;
		record->to[w] = open & ~signers;
		left |= signers;
		any |= record->to[w];
		record->sent[w] |= record->to[w];
	}
	if (left != 0 && record->since + core->config.relay_ms < core->flood_again)
		core->flood_again = record->since + core->config.relay_ms;
	if (any != 0)
		sl_emit_send(core, record->to, message, origin == core->config.self);
}

/* Links in range; of many, those of the overlay, and those that this learner offered an edge. */
static void find_reach(struct sl_core *core)
{
	if (!core->reach_stale)
		return;
	core->reach_stale = false;
	for (size_t w = 0; w < sl_core_words(core); w++)
		core->eligible[w] = core->linked[w] & core->range[w];
	sl_overlay(core, core->eligible, core->reach);
	for (size_t w = 0; w < sl_core_words(core); w++)
		core->reach[w] |= core->eligible[w] & core->tried_candidates[w];
}

/* Before the Readys: whoever comes back hears what is over before it finds that all are Ready. */
static bool pump_aborts(struct sl_core *core)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		struct sl_abort_record *fr = &core->aborts[i];
		if (core->out->count + RESERVE > SL_ACTIONS_MAX)
			return false;
		if (fr->record.present && fr->abort_record.t >= core->t)
			pump(core, i, &fr->record,
			     &(struct sl_message){.kind = SL_MSG_ABORT, .abort_record = fr->abort_record});
	}
	return true;
}

void sl_flood_pump(struct sl_core *core)
{
	if (!core->flood_dirty && core->now < core->flood_again)
		return;
	core->flood_dirty = true;
	core->flood_again = SL_NEVER;
	find_reach(core);
	if (!pump_aborts(core))
		return; /* still dirty: the deadline is now */
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		if (core->out->count + RESERVE > SL_ACTIONS_MAX)
			return; /* still dirty: the deadline is now */
		struct sl_link_record *lr = &core->links[i];
		struct sl_ready_record *rr = &core->readys[i];
		if (lr->record.present && of_interest(core, &lr->state))
			pump(core, i, &lr->record,
			     &(struct sl_message){.kind = SL_MSG_LINK_STATE, .link_state = lr->state});
		if (rr->record.present && rr->ready.t >= core->t)
			pump(core, i, &rr->record,
			     &(struct sl_message){.kind = SL_MSG_READY, .ready = rr->ready});
	}
	core->flood_dirty = false;
}
