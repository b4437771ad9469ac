#include "common/core/pace.h"

#define EASE 16u  /* each chunk excuses this part of stall_timeout */
#define FACTOR 3u /* a neighbour may take this many times as long as the others, in addition */

void sl_pace_begin(struct sl_core *core)
{
	core->at.began = core->at.looked = core->now;
	core->at.some_ready = SL_NEVER;
}

void sl_pace_shared(struct sl_core *core)
{
	core->at.shared = core->now;
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

/* --- SHARE --- */

/* Return true if c+1 participants have said that they are ready. One of them is honest, and waits for the
 * others as long as sl_core_prepare_ms. */
static bool some_are_ready(const struct sl_core *core)
{
	uint32_t ready = 0;
	for (uint32_t i = 0; i < core->view.n; i++) {
		const struct sl_ready_record *rr = &core->readys[core->view.members[i]];
		ready += rr->record.present && rr->ready.a == core->view.a &&
			 sl_core_in_view(core, rr->ready.t, rr->ready.view);
	}
	return ready > core->view.agreed.tolerance;
}

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
	if (what.deposits && at->some_ready == SL_NEVER && some_are_ready(core))
		at->some_ready = core->now;
}

/* Return true if the learner can do without a participant, and has not tried to do so in this round: then
 * neighbour `r` would not be in the view if a view were possible without it. */
static bool is_spare(const struct sl_core *core, uint32_t r)
{
	const struct sl_parameters *agreed = &core->view.agreed;
	return core->view.n > agreed->quorum && core->view.n > agreed->tolerance + 2 &&
	       core->peers[sl_view_peer(&core->view, r)].penalty.last[SL_FAULT_SLOW] != core->t;
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
	sl_ms may = config->stall_timeout_ms + FACTOR * others +
		    ease(core, exchange->shares_in + exchange->deposits_in, sl_core_prepare_ms(config) / 2);
	return core->at.looked + (may > held ? may - held : 0);
}

/* Return the time at which the others are about to give up, for want of the deposit of neighbour `r`. */
static sl_ms last_at(const struct sl_core *core, const struct sl_exchange *exchange)
{
	sl_ms most = sl_core_prepare_ms(&core->config);
	return core->at.some_ready + most / 2 + ease(core, exchange->deposits_in, most / 4);
}

/* Return the time at which neighbour `r` is too slow, if nothing arrives before. */
static sl_ms slow_at(const struct sl_core *core, uint32_t r)
{
	const struct sl_exchange *exchange = &core->exchange[r];
	if (!exchange->awaited || !is_spare(core, r))
		return SL_NEVER;
	sl_ms behind = core->at.others_wait ? far_behind_at(core, exchange) : SL_NEVER;
	sl_ms last = core->at.some_ready != SL_NEVER ? last_at(core, exchange) : SL_NEVER;
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
	for (uint32_t r = 0; r < core->view.degree; r++)
		due = slow_at(core, r) < due ? slow_at(core, r) : due;
	return due;
}

/* --- MIX, CHECK, RECOVER --- */

/* The release shows how long the slowest participants took for SHARE. An exchange takes less. */
sl_ms sl_pace_mixed(const struct sl_core *core)
{
	const struct sl_attempt_state *at = &core->at;
	sl_ms all = at->released_at - at->began, own = at->shared - at->began;
	return at->released_at + core->config.stall_timeout_ms + (FACTOR + 1) * all +
	       2 * core->view.steps * own;
}

sl_ms sl_pace_fetch_ms(const struct sl_core *core)
{
	const struct sl_attempt_state *at = &core->at;
	if (at->resumed || !at->released) /* it is not known how long SHARE took */
		return SL_NEVER;
	return core->config.stall_timeout_ms + (FACTOR + 1) * (at->released_at - at->began);
}
