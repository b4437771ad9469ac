#include "common/core/ready.h"

#include "common/core/aborts.h"
#include "common/core/attempt.h"
#include "common/core/catchup.h"
#include "common/core/close.h"
#include "common/core/deposit.h"
#include "common/core/emit.h"
#include "common/core/move.h"
#include "common/core/open.h"
#include "common/core/pace.h"
#include "common/core/recover.h"
#include "common/core/relay.h"
#include "common/core/split.h"

/* --- Readys --- */

/* Return true if an honest participant may announce `k`. For one view, K differs by rounding at most; if
 * another engine may take its place, metropolis may be possible for one learner and not for another. */
static bool likely(const struct sl_view *view, uint64_t k)
{
	bool none = k == SL_ITERATIONS_NONE && !sl_engine_rows[view->agreed.mixing].needs_k;
	return none || k <= 2 * view->costs.k + 16;
}

static void take(struct sl_core *core, uint32_t position, const struct sl_ready *ready)
{
	struct sl_attempt_state *at = &core->at;
	uint32_t member = core->view.members[position];
	at->readys[position] = *ready;
	at->ready_here[position] = true;
	at->ready_count++;
	at->progress = core->now;
	sl_pace_ready(core, position,
		      member == core->config.self ? core->now : core->readys[member].record.since);
	sl_open_ready(core, position);
}

/* Readys are copied to the attempt, since later records may replace them. */
void sl_ready_heard(struct sl_core *core, uint32_t signer)
{
	const struct sl_ready_record *rr = &core->readys[signer];
	const struct sl_ready *ready = &rr->ready;
	uint32_t position = core->view_checked ? core->view.position[signer] : UINT32_MAX;
	if (position == UINT32_MAX || core->at.ready_here[position] || !rr->record.present ||
	    ready->a != core->view.a || !sl_core_in_view(core, ready->t, ready->view))
		return;
	if (core->at.resumed || likely(&core->view, ready->k))
		take(core, position, ready);
}

static uint64_t largest_k(const struct sl_core *core)
{
	uint64_t k = 0;
	for (uint32_t i = 0; i < core->view.n; i++)
		k = core->at.readys[i].k > k ? core->at.readys[i].k : k;
	return k;
}

void sl_ready_enter(struct sl_core *core)
{
	core->reach_stale = true;
	for (uint32_t i = 0; i < core->view.n; i++)
		if (i != core->view.self)
			sl_ready_heard(core, core->view.members[i]);
	if (core->before == SL_PHASE_SHARE)
		sl_emit_job(core, SL_JOB_COMMITMENT, 0, NULL);
	else if (core->before == SL_PHASE_CATCHUP)
		core->at.unmixable = true; /* States were dropped, and keys taken that others showed */
}

void sl_ready_commitment(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_ready *own = &core->readys[core->config.self].ready;
	const struct sl_secrets *secrets = core->at.secrets;
	core->readys[core->config.self].record.present =
		false; /* an earlier one may still be queued for a link */
	*own = (struct sl_ready){.id = core->config.ids[core->config.self],
				 .t = core->t,
				 .a = core->a,
				 .k = core->view.costs.k};
	memcpy(own->view, core->view.h, SL_HASH_BYTES);
	memcpy(own->deposit, result->hash, SL_HASH_BYTES);
	sl_canonical_key(&core->config.scope, own->id, secrets->key, own->key_hash);
	sl_canonical_challenge(&core->config.scope, own->id, secrets->challenge, own->challenge_hash);
	memcpy(own->share_root, secrets->root, SL_HASH_BYTES);
	sl_deposit_hold(core, core->view.self);
	take(core, core->view.self, own);
	sl_aborts_readied(core, core->a);
	struct sl_persist *persist = sl_emit_persist(core, SL_PERSIST_PREPARED, core->a);
	persist->view = core->at.view_bytes;
	persist->view_bytes = core->at.view_size;
	persist->readys = own;
	persist->ready_count = 1;
	persist->secrets = secrets;
	persist->draw = core->draws;
}

void sl_ready_prepared(struct sl_core *core)
{
	core->at.prepared = true;
	sl_relay_record(core, SL_MSG_READY, core->config.self, core->config.self);
}

/* --- what is kept here --- */

enum kept { PENDING, GOOD, BAD };

/* Return whether the deposit and the key share of neighbour `r` are what its Ready says. */
static enum kept check_neighbour(struct sl_core *core, uint32_t r)
{
	uint32_t position = core->view.neighbours[r];
	struct sl_exchange *exchange = &core->exchange[r];
	if (!core->at.ready_here[position])
		return PENDING;
	if (!exchange->share_checked && !sl_open_share_fits(core, r))
		return BAD;
	exchange->share_checked = true;
	enum sl_slot slot = core->at.slots[position];
	if (core->at.resumed || !sl_view_keeps(&core->view, r) || slot == SL_SLOT_HELD)
		return GOOD; /* RECOVER checks all slots of a resumed attempt */
	return slot == SL_SLOT_MISSING ? BAD : PENDING;
}

/* Check all neighbours; *bad: the first whose deposit or key share does not fit, or SL_NOBODY. */
static enum kept check_kept(struct sl_core *core, uint32_t *bad)
{
	enum kept all = GOOD;
	*bad = SL_NOBODY;
	if (!core->at.resumed)
		sl_deposit_check(core);
	for (uint32_t r = 0; r < core->view.degree; r++) {
		enum kept one = check_neighbour(core, r);
		if (one == BAD) {
			*bad = sl_view_peer(&core->view, r);
			return BAD;
		}
		all = one == PENDING ? PENDING : all;
	}
	return all;
}

/* --- abort --- */

struct sl_report *sl_ready_abort(struct sl_core *core, enum sl_reason reason, bool refused)
{
	sl_aborts_own(core, SL_ABORT_UNRELEASED, core->view.a, &core->at.readys[core->view.self]);
	core->at.aborted = true;
	return sl_recover_fail(core, reason, refused);
}

/* Return true if this learner may still abort: its key is not known to others, and a resumed learner, which
 * may have missed much, has heard of a participant. */
static bool may_abort(const struct sl_core *core)
{
	bool heard = !core->at.resumed;
	for (uint32_t i = 0; i < core->view.n; i++)
		heard |= sl_bit(core->linked, core->view.members[i]) &&
			 core->peers[core->view.members[i]].hello;
	return heard && !sl_core_has(core->at.known, core->view.self);
}

/* Return true if no Ready of `peer` can be expected: its link is down, or it has come back and has forgotten
 * the attempt (GROUP.md §12.4 Disks that forget). */
static bool is_lost(const struct sl_core *core, uint32_t peer)
{
	const struct sl_peer *p = &core->peers[peer];
	bool forgot = p->hello && (p->t < core->t || p->status == SL_PEER_STATUS_ABSTAINS);
	return !sl_bit(core->linked, peer) || forgot;
}

/* Return the time at which a neighbour whose Ready is missing has been lost for too long; *who: that
 * neighbour. */
static sl_ms lost_at(const struct sl_core *core, uint32_t *who)
{
	sl_ms due = SL_NEVER;
	for (uint32_t r = 0; r < core->view.degree; r++) {
		uint32_t peer = sl_view_peer(&core->view, r);
		if (core->at.ready_here[core->view.neighbours[r]] || !is_lost(core, peer))
			continue;
		sl_ms down = core->peers[peer].down_since > core->since ? core->peers[peer].down_since
									: core->since;
		if (down + sl_core_hello_ms(&core->config) < due) {
			due = down + sl_core_hello_ms(&core->config);
			*who = peer;
		}
	}
	return due;
}

static void find_missing(const struct sl_core *core, uint64_t *set)
{
	memset(set, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->view.n; i++)
		if (!core->at.ready_here[i])
			sl_bit_set(set, core->view.members[i]);
}

enum sl_wait sl_ready_awaits(const struct sl_core *core, uint64_t *set)
{
	if (!core->at.prepared)
		return SL_WAIT_DISK;
	if (core->at.over_since != SL_NEVER)
		return SL_WAIT_OTHERS;
	find_missing(core, set);
	return core->at.ready_count < core->view.n ? SL_WAIT_READYS : SL_WAIT_ARITHMETIC;
}

/* Abort an attempt that is over. With the Aborts of all, rule B may allow the use of the models (ROUND.md
 * §9.4 Rule B: when a model may be used again). */
static bool join_the_aborts(struct sl_core *core)
{
	uint32_t who = sl_aborts_of_view(core);
	if (who == SL_NOBODY || !may_abort(core))
		return false;
	sl_attempt_fail_by(core, who, SL_REASON_ABORTED, false);
	return true;
}

/* Abort, as long as a Ready is missing, if there is a cause. */
static bool abort_if_due(struct sl_core *core)
{
	uint32_t who = sl_aborts_of_view(core), lost = SL_NOBODY;
	if (!may_abort(core))
		return false;
	if (who != SL_NOBODY)
		sl_attempt_fail_by(core, who, SL_REASON_ABORTED, false);
	else if (core->now >= lost_at(core, &lost))
		sl_attempt_fail_by(core, lost, SL_REASON_LINK, false);
	else if (core->now >= sl_pace_hangs_at(core)) {
		sl_pace_hung(core, core->missing);
		sl_attempt_fail(core, SL_REASON_STALLED, false)->set = core->failed;
	} else
		return false;
	return true;
}

/* Return the time from which this learner may catch up: the word of c learners is no cause to leave an
 * attempt that goes on. */
static sl_ms asks_at(const struct sl_core *core)
{
	bool at_once = core->at.resumed || sl_catchup_over(core);
	return at_once ? 0 : core->since + core->config.stall_timeout_ms;
}

/* --- the barrier --- */

/* Make the release durable; the deposit key leaves after that. */
static void release(struct sl_core *core)
{
	core->view.costs.k = largest_k(core);
	if (!core->at.resumed) /* else there is no analysis of the graph */
		sl_view_set_engine(&core->view);
	for (uint32_t i = 0; i < core->view.n; i++) /* each release hangs on all Readys */
		if (core->readys[core->view.members[i]].record.present)
			sl_relay_now(core, &core->readys[core->view.members[i]].record);
	struct sl_persist *persist = sl_emit_persist(core, SL_PERSIST_RELEASED, core->a);
	persist->readys = core->at.readys;
	persist->ready_count = core->view.n;
	sl_move_to(core, SL_PHASE_RELEASE);
}

/* No learner releases its deposit key before it holds a Ready of every participant, and all that it keeps for
 * its neighbours fits theirs. If its key is known already, others have released, and it cannot hold back. */
bool sl_ready_advance(struct sl_core *core)
{
	uint32_t bad;
	if (!core->at.prepared)
		return false;
	if (sl_close_attempt(core) || (core->now >= asks_at(core) && sl_catchup_begin(core)))
		return true;
	if (core->at.over_since != SL_NEVER)
		return join_the_aborts(core);
	find_missing(core, core->missing);
	enum kept kept = check_kept(core, &bad);
	bool all = core->at.ready_count == core->view.n;
	if (kept == BAD && may_abort(core)) {
		sl_attempt_fail_by(core, bad, SL_REASON_BAD_DEPOSIT, true);
		return true;
	}
	core->at.unmixable |= kept == BAD;
	if (all && kept != PENDING) {
		sl_split_begin(core);
		if (core->at.split_from != SL_NOBODY && may_abort(core))
			sl_attempt_fail_by(core, core->at.split_from, SL_REASON_READYS, true);
		else
			release(core);
		return true;
	}
	if (!all && abort_if_due(core))
		return true;
	if (!all)
		sl_emit_waiting(core, core->missing);
	return false;
}

sl_ms sl_ready_deadline(const struct sl_core *core)
{
	uint32_t who;
	sl_ms ends[] = {sl_pace_hangs_at(core), lost_at(core, &who), sl_close_deadline(core), asks_at(core)};
	sl_ms due = core->report_at > core->now ? core->report_at : SL_NEVER;
	if (!core->at.prepared)
		return SL_NEVER; /* PREPARED is not durable yet */
	for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
		due = sl_core_sooner(core, due, ends[k]);
	return due;
}

void sl_ready_released(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	uint32_t aborted = sl_aborts_of_view(core);
	at->released = true;
	sl_open_release(core);
	if (at->resumed || at->unmixable)
		sl_attempt_fail(core, SL_REASON_RESTARTED, false);
	else if (aborted != SL_NOBODY)
		sl_attempt_fail_by(core, aborted, SL_REASON_ABORTED, false);
	else
		sl_move_to(core, SL_PHASE_MIX);
}
