#include "common/core/discover.h"

#include "common/core/allowance.h"
#include "common/core/catchup.h"
#include "common/core/compatible.h"
#include "common/core/emit.h"
#include "common/core/move.h"
#include "common/core/overlay.h"
#include "common/core/relay.h"
#include "common/core/penalty.h"

#define FIRST_WORD 4u /* the first Hello of a peer is waited for so many times as long as others */

static void use_range(struct sl_core *core)
{
	if (!core->have_next_range)
		return;
	bool same = core->have_range && memcmp(core->range, core->next_range, sl_core_set_bytes(core)) == 0;
	memcpy(core->range, core->next_range, sl_core_set_bytes(core));
	core->have_range = true;
	core->have_next_range = false;
	core->flood_dirty = true;
	core->reach_stale = true;
	if (!same) /* else a list that comes again and again would keep the window open */
		core->window_since = SL_NEVER;
}

/* Remove silent peers from `near`, unless all are silent, as for the learner that starts first. */
static void leave_out_silent(struct sl_core *core)
{
	bool answered = false;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		answered |= sl_bit(core->near, i) && !sl_penalty_silent(core, i);
	for (uint32_t i = 0; answered && i < core->config.roster_size; i++)
		if (sl_penalty_silent(core, i))
			sl_bit_clear(core->near, i);
}

/* Set `near`: the peers in range; with an overlay, those of the overlay over the peers that are not silent.
 */
static void choose_near(struct sl_core *core)
{
	for (size_t w = 0; w < sl_core_words(core); w++)
		core->near[w] = core->range[w] | (core->have_next_range ? core->next_range[w] : 0);
	sl_bit_clear(core->near, core->config.self);
	if (!sl_overlay_thins(core, core->near))
		return;
	leave_out_silent(core);
	sl_overlay(core, core->near, core->eligible);
	memcpy(core->near, core->eligible, sl_core_set_bytes(core));
}

/* Ask for links to the chosen peers and to the neighbours in an open attempt, and keep those of the round
 * before; silent: to all silent peers, too. */
static void want_links(struct sl_core *core, bool silent)
{
	choose_near(core);
	for (size_t w = 0; w < sl_core_words(core); w++) /* they may say nothing that ends their silence */
		core->keep[w] = sl_core_open(core) ? core->view_neighbours[w] & core->range[w] : 0;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		sl_round *last = &core->peers[i].in_range;
		if (sl_bit(core->near, i) && *last == 0)
			core->peers[i].down_since = core->now;
		if (sl_bit(core->near, i))
			*last = core->t;
		bool recent = *last != 0 && core->t - *last < 2;
		bool try = silent && sl_bit(core->range, i) && sl_penalty_silent(core, i);
		if (sl_bit(core->near, i) || try || (recent && sl_bit(core->linked, i)))
			sl_bit_set(core->keep, i);
	}
	sl_emit(core, SL_ACTION_LINKS)->to = core->keep;
}

void sl_discover_links(struct sl_core *core)
{
	want_links(core, false);
}

void sl_discover_ahead(struct sl_core *core)
{
	if (!sl_overlay_thins(core, core->range))
		return;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		core->peers[i].tried = false;
	sl_discover_links(core);
}

void sl_discover_anew(struct sl_core *core)
{
	if (sl_overlay_thins(core, core->range))
		sl_discover_links(core);
}

void sl_discover_range(struct sl_core *core, const uint64_t *range)
{
	memcpy(core->next_range, range, sl_core_set_bytes(core));
	sl_bit_clear(core->next_range, core->config.self);
	core->have_next_range = true;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (sl_bit(core->next_range, i) && !sl_bit(core->range, i))
			core->peers[i].tried = false;
	/* an attempt from disk has begun without a list */
	if (core->phase == SL_PHASE_DISCOVER || (core->at.resumed && !core->have_range)) {
		use_range(core);
		core->not_before = 0;
	}
	sl_discover_links(core);
}

void sl_discover_enter(struct sl_core *core)
{
	if (core->before == SL_PHASE_CATCHUP)
		sl_emit(core, SL_ACTION_WIPE); /* of the fetched chunks */
	else
		core->window_since = SL_NEVER; /* a peer that shows nothing holds up no attempt */
	use_range(core);
	if (core->seen > core->a)
		core->a = core->seen;
	core->flood_dirty = true;
	sl_discover_links(core);
	sl_emit_hello(core, core->linked);
}

struct census {
	uint32_t expected, ready, training, differ;
	bool possible; /* a linked peer may be in a view with this learner, also if it is not ready yet */
	bool named;    /* a peer that differs names this learner in this attempt, or in a later one */
};

/* Return true if peer `i` waits for a link state of this learner in attempt `a` or a later one. */
static bool names_self(const struct sl_core *core, uint32_t i)
{
	const struct sl_link_record *lr = &core->links[i];
	return lr->record.present && lr->state.t == core->t && lr->state.a >= core->a &&
	       sl_bit(lr->named, core->config.self);
}

/* Report why peer `i`, which is ready, cannot be in a view with this learner. */
static void report_difference(struct sl_core *core, uint32_t i)
{
	enum sl_reason why = sl_penalty_difference(core, i);
	if (why != SL_REASON_NONE)
		sl_compatible_report(core, i, why);
}

static struct census count_peers(struct sl_core *core, uint64_t *missing)
{
	struct census c = {0};
	memset(missing, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		bool ready = sl_core_peer_ready(core, i); /* in an overlay, it may have chosen this learner */
		if (!sl_bit(core->range, i) || !(ready || sl_bit(core->near, i)))
			continue;
		const struct sl_peer *p = &core->peers[i];
		enum sl_regard regard = sl_penalty_regard(core, i);
		bool waited_for = ready || regard == SL_REGARD_AWAITED;
		bool differs = sl_bit(core->linked, i) && sl_compatible_differs(core, i);
		c.differ += differs;
		c.named |= differs && names_self(core, i);
		if (regard == SL_REGARD_LEFT_OUT && ready)
			report_difference(core, i);
		if (regard == SL_REGARD_LEFT_OUT)
			continue;
		c.possible |= sl_bit(core->linked, i);
		c.ready += ready;
		c.expected += waited_for;
		c.training += waited_for && !ready && sl_bit(core->linked, i) && p->hello &&
			      p->status != SL_PEER_STATUS_OPEN && p->t > core->fetched &&
			      p->t != p->asked.behind;
		if (!ready)
			sl_bit_set(missing, i);
	}
	return c;
}

/* Return the time at which silent peers, or stragglers, are waited for no longer. The window is open. A first
 * word takes longer than others: when a run starts, all learners dial all at once. A liar may name the silent
 * again and again. */
static sl_ms silent_until(const struct sl_core *core)
{
	sl_ms due = core->dialled_at + sl_core_hello_ms(&core->config);
	sl_ms last = core->revived_at == 0 ? SL_NEVER : core->revived_at + core->config.stall_timeout_ms;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		const struct sl_peer *p = &core->peers[i];
		sl_ms first = p->down_since + FIRST_WORD * sl_core_hello_ms(&core->config);
		if (p->t == 0 && first > due && sl_bit(core->near, i) && sl_bit(core->range, i) &&
		    sl_penalty_regard(core, i) == SL_REGARD_AWAITED)
			due = first;
	}
	return due < last ? due : last;
}

static sl_ms straggler_until(const struct sl_core *core)
{
	return core->window_since + core->config.straggler_timeout_ms;
}

static sl_ms window_end(const struct sl_core *core, const struct census *c)
{
	if (core->window_since == SL_NEVER)
		return SL_NEVER;
	sl_ms silent = silent_until(core), straggler = straggler_until(core);
	if (c->training == 0)
		return silent;
	return core->dialled_at > core->window_since && silent > straggler ? silent : straggler;
}

/* Write the candidates of the own link state to `set`: peers in range that are ready and may be in one view
 * with this learner, thinned by the overlay. */
static void candidates(struct sl_core *core, uint64_t *set)
{
	memset(core->eligible, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (sl_bit(core->range, i) && sl_core_peer_ready(core, i) &&
		    sl_penalty_regard(core, i) != SL_REGARD_LEFT_OUT)
			sl_bit_set(core->eligible, i);
	sl_overlay(core, core->eligible, set);
}

/* Report a peer that claims to have committed this round and has not shown it. A Hello proves nothing, so the
 * learner goes on looking for an attempt. */
static void left_behind(struct sl_core *core)
{
	if (core->now < core->report_at)
		return;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		const struct sl_peer *p = &core->peers[i];
		if (i == core->config.self || !sl_bit(core->linked, i) || !p->hello || p->t <= core->t)
			continue;
		struct sl_report *report = sl_emit_report(core, SL_REPORT_BEHIND);
		report->peer = i;
		report->behind.t = p->t;
		return;
	}
}

/* Return true during the pause after a refusal. It ends when its time has come, if it has one, when the
 * candidates change, or when another learner has begun this attempt. */
static bool pausing(struct sl_core *core)
{
	if (core->now >= core->not_before || core->seen >= core->a)
		return false;
	candidates(core, core->ready_set);
	return memcmp(core->ready_set, core->tried_candidates, sl_core_set_bytes(core)) == 0;
}

/* A learner that has started again may state another model: try again what was refused. */
static void notice_start(struct sl_core *core, uint32_t signer)
{
	uint32_t incarnation = core->links[signer].state.incarnation;
	if (sl_emit_once(core, signer, SL_ONCE_STARTED, incarnation) && core->not_before == SL_NEVER)
		core->not_before = core->now;
}

void sl_discover_notice(struct sl_core *core, uint32_t signer, const uint64_t *named)
{
	bool news = false;
	notice_start(core, signer);
	for (size_t w = 0; w < sl_core_words(core); w++) {
		uint64_t alive = named[w] | (w == signer / 64 ? UINT64_C(1) << (signer % 64) : 0);
		for (alive &= core->range[w] & ~core->linked[w]; alive != 0; alive &= alive - 1) {
			struct sl_peer *p = &core->peers[64 * w + (uint32_t)__builtin_ctzll(alive)];
			news |= p->tried;
			p->tried = false;
		}
	}
	if (!news)
		return;
	sl_discover_links(core);
	core->dialled_at = core->now; /* wait for it as long as for the others */
	if (core->revived_at == 0 || core->now >= core->revived_at + 2 * core->config.stall_timeout_ms)
		core->revived_at = core->now;
}

/* Wait. In an overlay, silent peers are dialled again from time to time: a partition may have ended. */
static bool wait_on(struct sl_core *core, const uint64_t *missing)
{
	if (core->now >= core->report_at && sl_overlay_thins(core, core->range))
		want_links(core, true);
	sl_emit_waiting(core, missing);
	return false;
}

/* Open the candidate window, or close it. Most chosen peers may train where most learners do not: others that
 * begin show it, and then the clock of stragglers runs since DISCOVER began. */
static void set_window(struct sl_core *core, const struct census *c)
{
	bool by_peers = c->ready >= c->training;
	if (c->ready == 0 || !(by_peers || sl_penalty_others_begin(core, 0)))
		core->window_since = SL_NEVER;
	else if (core->window_since == SL_NEVER) {
		core->window_since = by_peers ? core->now : core->since;
		core->dialled_at = core->now;
		core->revived_at = 0;
	}
}

/* Tell the peers why none of those that are ready may be in a view with this learner: flood, once a round, a
 * link state without candidates. It uses up the attempt number. */
static void state_difference(struct sl_core *core)
{
	const struct sl_link_record *own = &core->links[core->config.self];
	if (own->record.present && own->state.t == core->t && own->state.count == 0)
		return;
	memset(core->eligible, 0, sl_core_set_bytes(core));
	sl_relay_own_link_state(core, core->eligible);
	core->a += core->a < SL_ATTEMPTS_MAX;
}

/* Find the peers that keep this learner from an attempt until they start again: those that are not
 * compatible, for the cause of the first one. Return what they are awaited for; SL_WAIT_NOTHING: there is
 * none. */
static enum sl_wait find_different(const struct sl_core *core, uint64_t *set)
{
	enum sl_wait wait = SL_WAIT_NOTHING;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		if (!sl_bit(core->near, i) || !sl_bit(core->range, i) || !sl_compatible_differs(core, i))
			continue;
		enum sl_reason why = sl_compatible_difference(core, &core->links[i]);
		enum sl_wait one = why == SL_REASON_ROSTER    ? SL_WAIT_ROSTER
				   : why == SL_REASON_HISTORY ? SL_WAIT_HISTORY
							      : SL_WAIT_MODEL;
		wait = wait == SL_WAIT_NOTHING ? one : wait;
		if (one == wait)
			sl_bit_set(set, i);
	}
	return wait;
}

bool sl_discover_advance(struct sl_core *core)
{
	if (sl_catchup_begin(core))
		return true;
	left_behind(core);
	if (sl_core_abstains(core))
		return false;
	if (!core->have_range)
		return wait_on(core, NULL);
	sl_penalty_update(core);
	struct census c = count_peers(core, core->missing);
	set_window(core, &c);
	if (c.ready == 0 && c.differ > 0 && (!c.possible || c.named))
		state_difference(core);
	bool close = c.ready > 0 && (c.ready == c.expected || core->now >= window_end(core, &c));
	if (!close || pausing(core) || core->now < sl_allowance_next_attempt(core))
		return wait_on(core, core->missing);
	if (c.ready < c.expected)
		sl_penalty_late(core, core->missing);
	sl_allowance_begin_attempt(core);
	core->begun_at = core->begun_at == SL_NEVER ? core->now : core->begun_at;
	candidates(core, core->tried_candidates);
	core->reach_stale = true;
	sl_move_to(core, SL_PHASE_AGREE);
	return true;
}

/* Add the peers that are not ready, of this regard, to `set`; return true if there is one. */
static bool add_unready(const struct sl_core *core, enum sl_regard regard, uint64_t *set)
{
	bool any = false;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		if (!sl_bit(core->near, i) || !sl_bit(core->range, i) || sl_core_peer_ready(core, i) ||
		    sl_penalty_regard(core, i) != regard)
			continue;
		sl_bit_set(set, i);
		any = true;
	}
	return any;
}

/* Return true if the candidates of the last attempt are fewer than the quorum. */
static bool lacks_quorum(const struct sl_core *core)
{
	return sl_bit_count(core->tried_candidates, sl_core_words(core)) + 1 < core->config.parameters.quorum;
}

/* Keep in `set` the peers whose training has failed. Return false if there is none, and keep all. */
static bool keep_failing(const struct sl_core *core, uint64_t *set)
{
	bool any = false;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		any |= sl_bit(set, i) && core->peers[i].status == SL_PEER_STATUS_FAILING;
	for (uint32_t i = 0; any && i < core->config.roster_size; i++)
		if (core->peers[i].status != SL_PEER_STATUS_FAILING)
			sl_bit_clear(set, i);
	return any;
}

/* Peers that do not answer, or that are left out, are awaited where no other peer is ready, or too few for a
 * quorum. */
enum sl_wait sl_discover_awaits(const struct sl_core *core, uint64_t *set)
{
	if (sl_core_abstains(core))
		return SL_WAIT_OTHERS;
	if (!core->have_range)
		return SL_WAIT_RANGE;
	bool any = add_unready(core, SL_REGARD_AWAITED, set);
	if (!any && (core->window_since == SL_NEVER || lacks_quorum(core)))
		any = add_unready(core, SL_REGARD_OPTIONAL, set) ||
		      add_unready(core, SL_REGARD_LEFT_OUT, set);
	if (any)
		return keep_failing(core, set) ? SL_WAIT_RETRAINING : SL_WAIT_READINESS;
	if (core->not_before != SL_NEVER && core->now < core->not_before)
		return SL_WAIT_PAUSE;
	enum sl_wait wait = find_different(core, set);
	if (wait != SL_WAIT_NOTHING)
		return wait;
	return core->not_before == SL_NEVER ? SL_WAIT_CHANGE : SL_WAIT_PAUSE;
}

sl_ms sl_discover_deadline(const struct sl_core *core)
{
	bool open = core->window_since != SL_NEVER;
	sl_ms ends[] = {core->not_before, sl_allowance_next_attempt(core),
			open ? silent_until(core) : SL_NEVER, open ? straggler_until(core) : SL_NEVER};
	sl_ms due = core->report_at;
	for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
		due = sl_core_sooner(core, due, ends[k]);
	return sl_core_abstains(core) ? SL_NEVER : due;
}
