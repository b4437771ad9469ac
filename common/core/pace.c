#include "common/core/pace.h"

#define EASE 16u  /* each chunk excuses this part of stall_timeout */
#define FACTOR 3u /* a neighbour may take this many times as long as the others, in addition */
#define MIXED 16u /* exchanges may take this many times as long as a stall and SHARE, in addition */

void sl_pace_begin(struct sl_core *core)
{
	core->at.began = core->at.looked = core->now;
	core->at.some_ready = SL_NEVER;
}

void sl_pace_ready(struct sl_core *core, uint32_t position, sl_ms at)
{
	sl_ms took = at > core->at.began ? at - core->at.began : 1;
	uint64_t n = core->view.n, c = core->view.agreed.tolerance;
	if (core->at.ready_count == (n > c ? n - c : 1))
		core->at.most_ready = core->now;
	if (!core->at.resumed)
		core->peers[core->view.members[position]].ready_ms = took;
}

/* --- what is waited for --- */

/* The vectors that SHARE waits for: all shares, then the deposits. A share does not wait for deposits. */
struct awaited {
	bool deposits;
	uint32_t fewest, all; /* chunks of a neighbour that are here, at least; that are due in the end */
};

static bool owes(const struct sl_core *core, struct awaited what, uint32_t r)
{
	return !what.deposits || sl_view_keeps(&core->view, r);
}

static uint32_t chunks_in(const struct sl_core *core, struct awaited what, uint32_t r)
{
	return what.deposits ? core->exchange[r].deposits_in : core->exchange[r].shares_in;
}

static uint32_t find_fewest(const struct sl_core *core, struct awaited what)
{
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (owes(core, what, r) && chunks_in(core, what, r) < what.fewest)
			what.fewest = chunks_in(core, what, r);
	return what.fewest;
}

static struct awaited find_awaited(const struct sl_core *core)
{
	uint32_t shares = sl_view_share_count(&core->view), chunks = core->view.chunks;
	struct awaited what = {.fewest = shares, .all = shares};
	what.fewest = find_fewest(core, what);
	if (what.fewest < shares)
		return what;
	what = (struct awaited){.deposits = true, .fewest = chunks, .all = chunks};
	what.fewest = find_fewest(core, what);
	return what;
}

static bool is_among(const struct sl_core *core, struct awaited what, uint32_t r)
{
	return owes(core, what, r) && chunks_in(core, what, r) == what.fewest && what.fewest < what.all;
}

void sl_pace_fewest(const struct sl_core *core, uint64_t *set)
{
	struct awaited what = find_awaited(core);
	memset(set, 0, sl_core_set_bytes(core));
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (is_among(core, what, r) ||
		    (what.fewest == what.all && core->at.secrets->shares[r].size == 0))
			sl_bit_set(set, sl_view_peer(&core->view, r));
}

/* Return true if the learner can do without participant `peer`, and has not tried to do so in this round:
 * then the peer would not be in the view if a view were possible without it. */
static bool is_spare(const struct sl_core *core, uint32_t peer)
{
	const struct sl_parameters *agreed = &core->view.agreed;
	return core->view.n > agreed->quorum && core->view.n > agreed->tolerance + 2 &&
	       core->peers[peer].penalty.last[SL_FAULT_OWED] != core->t;
}

/* --- READY --- */

/* Return the time at which the participant at `position` hangs in READY, if its Ready does not come before.
 * Its neighbours are ready, so it lacks nothing of them. */
static sl_ms hangs_at(const struct sl_core *core, uint32_t position)
{
	const struct sl_view *view = &core->view;
	const uint32_t *neighbours = sl_graph_neighbours(&view->graph, position);
	sl_ms usual = core->peers[view->members[position]].ready_ms, last = 0;
	if (core->at.resumed || usual == 0 || core->at.ready_here[position] ||
	    !is_spare(core, view->members[position]))
		return SL_NEVER;
	for (uint32_t k = 0; k < sl_graph_degree(&view->graph, position); k++) {
		sl_ms took = core->peers[view->members[neighbours[k]]].ready_ms;
		if (!core->at.ready_here[neighbours[k]])
			return SL_NEVER;
		last = took > last ? took : last;
	}
	last += core->config.stall_timeout_ms / 2;
	return core->at.began + (FACTOR * usual > last ? FACTOR * usual : last);
}

void sl_pace_hung(const struct sl_core *core, uint64_t *set)
{
	bool any = false;
	for (uint32_t i = 0; i < core->view.n; i++)
		any |= core->now >= hangs_at(core, i);
	for (uint32_t i = 0; any && i < core->view.n; i++)
		if (core->now < hangs_at(core, i))
			sl_bit_clear(set, core->view.members[i]);
}

sl_ms sl_pace_hangs_at(const struct sl_core *core)
{
	sl_ms due = core->since + sl_core_prepare_ms(&core->config);
	for (uint32_t i = 0; i < core->view.n; i++) {
		sl_ms hangs = hangs_at(core, i);
		due = hangs < due ? hangs : due;
	}
	return due;
}

/* --- SHARE --- */

/* Return true if no computation runs here, and at least half of the neighbours have sent all that they may
 * while the fewest chunks are those. */
static bool others_wait(const struct sl_core *core, struct awaited what)
{
	uint32_t ahead = what.fewest + (what.deposits ? SL_DEPOSIT_WINDOW : SL_WINDOW), some = 0, behind = 0;
	uint32_t most = ahead < what.all ? ahead : what.all;
	for (uint32_t r = 0; r < core->view.degree; r++) {
		some += owes(core, what, r);
		behind += owes(core, what, r) && chunks_in(core, what, r) < most;
	}
	return core->jobs == 0 && 2 * behind <= some;
}

/* Return the time that excuses the awaited neighbours, since each may lack a vector of another learner: a
 * share comes after those of SL_WINDOW chunks before it, a deposit after all shares of its chunk. One that
 * lacks it ends the attempt itself. */
static sl_ms excuse(const struct sl_core *core, struct awaited what)
{
	bool may_lack = what.fewest < what.all && (what.deposits || what.fewest >= SL_WINDOW);
	return may_lack ? core->config.stall_timeout_ms / 4 : 0;
}

void sl_pace_look(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	struct awaited what = find_awaited(core);
	for (uint32_t r = 0; r < core->view.degree; r++) {
		struct sl_exchange *exchange = &core->exchange[r];
		exchange->held_up_ms += exchange->awaited && at->others_wait ? core->now - at->looked : 0;
		exchange->awaited = is_among(core, what, r);
	}
	at->looked = core->now;
	at->others_wait = others_wait(core, what);
	at->excused = excuse(core, what);
	if (what.deposits && at->some_ready == SL_NEVER && at->ready_count > core->view.agreed.tolerance)
		at->some_ready = core->now;
}

sl_ms sl_pace_silent_at(const struct sl_core *core)
{
	return core->at.progress + core->config.stall_timeout_ms + core->at.excused;
}

/* Return the time that `chunks` excuse, and `most` at the most. A neighbour that waits for a slow one has
 * sent more chunks than that. */
static sl_ms ease(const struct sl_core *core, uint32_t chunks, sl_ms most)
{
	sl_ms all = chunks * core->config.stall_timeout_ms / EASE;
	return all < most ? all : most;
}

/* Return the time at which neighbour `r` is slower than most others by far, if nothing arrives before. */
static sl_ms far_behind_at(const struct sl_core *core, const struct sl_exchange *exchange)
{
	const struct sl_core_config *config = &core->config;
	sl_ms held = exchange->held_up_ms, others = core->at.looked - core->at.began - held;
	sl_ms eased = ease(core, exchange->shares_in + exchange->deposits_in, sl_core_prepare_ms(config) / 2);
	eased = eased > core->at.excused ? eased : core->at.excused;
	sl_ms may = config->stall_timeout_ms + FACTOR * others + eased;
	return core->at.looked + (may > held ? may - held : 0);
}

/* Return the time at which the others are about to give up, for want of the deposit of neighbour `r`. */
static sl_ms last_at(const struct sl_core *core, const struct sl_exchange *exchange)
{
	sl_ms most = sl_core_prepare_ms(&core->config);
	if (core->at.some_ready == SL_NEVER)
		return SL_NEVER;
	return core->at.some_ready + most / 2 + ease(core, exchange->deposits_in, most / 4);
}

/* Return the time at which neighbour `r` is too slow, if nothing arrives before. */
static sl_ms slow_at(const struct sl_core *core, uint32_t r)
{
	const struct sl_exchange *exchange = &core->exchange[r];
	if (!exchange->awaited || !is_spare(core, sl_view_peer(&core->view, r)))
		return SL_NEVER;
	sl_ms behind = core->at.others_wait ? far_behind_at(core, exchange) : SL_NEVER;
	sl_ms last = last_at(core, exchange), hangs = hangs_at(core, core->view.self);
	if (hangs != SL_NEVER) /* for the others, which cannot see what this learner lacks */
		hangs -= core->config.stall_timeout_ms / 8;
	last = hangs < last ? hangs : last;
	return behind < last ? behind : last;
}

bool sl_pace_slow(const struct sl_core *core, bool about, uint64_t *set)
{
	sl_ms early = about ? 2 * core->config.stall_timeout_ms / EASE : 0;
	bool any = false;
	memset(set, 0, sl_core_set_bytes(core));
	for (uint32_t r = 0; r < core->view.degree; r++) {
		if (core->now + early < slow_at(core, r))
			continue;
		sl_bit_set(set, sl_view_peer(&core->view, r));
		any = true;
	}
	return any;
}

sl_ms sl_pace_deadline(const struct sl_core *core)
{
	sl_ms due = SL_NEVER;
	for (uint32_t r = 0; r < core->view.degree; r++) {
		sl_ms slow = slow_at(core, r);
		due = slow < due ? slow : due;
	}
	return due;
}

/* --- MIX, CHECK, RECOVER --- */

/* Return the time that the exchanges may take at the pace of the slowest honest participant. */
static sl_ms paced(const struct sl_core *core)
{
	return 2 * core->view.steps * (core->at.most_ready - core->at.began);
}

/* Return the most that is waited for them: to recover then takes less than what is left. */
static sl_ms enough(const struct sl_core *core)
{
	return MIXED * (core->config.stall_timeout_ms + core->at.most_ready - core->at.began);
}

bool sl_pace_had_enough(const struct sl_core *core)
{
	return paced(core) > enough(core) && core->now >= core->at.released_at + enough(core) / 2;
}

/* The release shows how long the slowest participants took for SHARE. An exchange takes less than that of the
 * slowest honest one, which is known: c that lie cannot raise it. */
sl_ms sl_pace_mixed(const struct sl_core *core)
{
	const struct sl_attempt_state *at = &core->at;
	sl_ms all = at->released_at - at->began, stall = core->config.stall_timeout_ms;
	sl_ms exchanges = paced(core), most = enough(core);
	return at->released_at + stall + (FACTOR + 1) * all + (exchanges < most ? exchanges : most);
}

sl_ms sl_pace_fetch_ms(const struct sl_core *core)
{
	const struct sl_attempt_state *at = &core->at;
	if (at->resumed || !at->released) /* it is not known how long SHARE took */
		return SL_NEVER;
	return core->config.stall_timeout_ms + (FACTOR + 1) * (at->released_at - at->began);
}
