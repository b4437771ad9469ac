/* Collect the deposits and keys of all participants and add up what they give (ROUND.md §10 Recovery).
 *
 *    this learner                      another participant
 *         | ---- Have {held, keys} ------> |   to all linked participants
 *         | <--- Have {held, keys} ------- |
 *         | <--- Key, Opening ------------ |   what the Have lacks (open.c)
 *         | ---- Request i, chunk 0 .. --> |   SL_WINDOW ahead, one i at a time from each participant
 *         | <--- Deposit i, chunk 0 .. --- |
 *         | ---- Have {held, i} ---------> |   when i's deposit has the hash in i's Ready
 *
 * RECOVER ends as §10.4 How recovery ends says. Until then this learner takes part in no other attempt of the
 * round (§9.3 Rule A). In CONFIRM a learner still serves those that recover. */
#include "common/core/recover.h"

#include "common/core/aborts.h"
#include "common/core/attempt.h"
#include "common/core/catchup.h"
#include "common/core/check.h"
#include "common/core/close.h"
#include "common/core/confirm.h"
#include "common/core/deposit.h"
#include "common/core/digests.h"
#include "common/core/emit.h"
#include "common/core/have.h"
#include "common/core/move.h"
#include "common/core/open.h"
#include "common/core/over.h"
#include "common/core/pace.h"
#include "common/core/split.h"
#include "common/core/penalty.h"

#define ASKING_MAX 128u /* actions of a step that may be spent on requests */

/* --- beginning --- */

/* Reset what another phase has left: jobs that are late, Haves that were sent. */
static void begin(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	core->epoch++; /* results of MIX jobs are late from here on */
	sl_emit_drop_held(core);
	sl_deposit_restart(core);
	for (uint32_t i = 0; i < core->view.n; i++)
		at->holders[i].told = 0;
	at->edition++;
	at->summing = at->operator_aborted = at->result_known = false;
	at->open_dirty = true;
}

struct sl_report *sl_recover_fail(struct sl_core *core, enum sl_reason reason, bool refused)
{
	(void)refused; /* no other attempt follows */
	struct sl_report *report = sl_emit_report(core, SL_REPORT_RECOVERING);
	report->reason = reason;
	report->recovering.learners = core->view.n;
	memcpy(core->failed, core->missing, sl_core_set_bytes(core));
	sl_penalty_failed(core, core->failed, reason);
	begin(core);
	sl_move_to(core, SL_PHASE_RECOVER);
	return report;
}

void sl_recover_enter(struct sl_core *core)
{
	if (core->before == SL_PHASE_CATCHUP) {
		core->at.edition++; /* requests during CATCHUP got no answer: send Have again */
		core->at.judging = core->at.result_known = false; /* the sum may be written over */
	} else
		sl_emit_hello(core, core->linked);
}

/* --- requests --- */

static void ask_more(struct sl_core *core, uint32_t position)
{
	struct sl_holder *holder = &core->at.holders[position];
	struct sl_message message = {.kind = SL_MSG_REQUEST};
	message.request.t = core->t;
	message.request.a = core->view.a;
	message.request.origin = core->view.ids[holder->origin];
	const uint64_t *to = sl_emit_only(core, core->view.members[position]);
	for (; holder->asked < core->view.chunks && holder->asked < holder->in + SL_WINDOW; holder->asked++) {
		message.request.index = holder->asked;
		sl_emit_send(core, to, &message, true);
	}
}

/* Return the position of a missing deposit that `holder` has, or SL_NOBODY. Learners begin with
 * different positions, so that they request different ones. */
static uint32_t choose_origin(const struct sl_core *core, const struct sl_holder *holder, uint32_t only)
{
	for (uint32_t k = 1; k < core->view.n; k++) {
		uint32_t origin = (core->view.self + k) % core->view.n;
		if (core->at.slots[origin] == SL_SLOT_MISSING && core->at.ready_here[origin] &&
		    (only == SL_NOBODY || only == origin) && sl_core_has(holder->held, origin))
			return origin;
	}
	return SL_NOBODY;
}

static void ask_holders(struct sl_core *core)
{
	uint32_t only = sl_check_disputed(core);      /* the deposit that ends a dispute */
	for (uint32_t k = 1; k < core->view.n; k++) { /* learners begin with different ones of these, too */
		uint32_t i = (core->view.self + k) % core->view.n;
		struct sl_holder *holder = &core->at.holders[i];
		if (holder->fetching || core->now < holder->ask_after ||
		    !sl_bit(core->linked, core->view.members[i]))
			continue;
		uint32_t origin = choose_origin(core, holder, only);
		if (origin == SL_NOBODY)
			continue;
		core->at.slots[origin] = SL_SLOT_FETCHING;
		holder->fetching = true;
		holder->origin = origin;
		holder->asked = holder->in = 0;
		holder->since = holder->progress = core->now;
		ask_more(core, i);
		if (core->out->count > ASKING_MAX)
			return; /* the rest in the next step */
	}
}

static void stop_fetching(struct sl_core *core, struct sl_holder *holder)
{
	core->at.slots[holder->origin] = SL_SLOT_MISSING;
	holder->fetching = false;
}

static const char *check(const struct sl_core *core, const struct sl_holder *holder,
			 const struct sl_buffer *b)
{
	if (b->index != holder->in)
		return "a deposit out of order";
	return b->size == sl_deposit_chunk_bytes(core, b->index) ? NULL : "a deposit of the wrong size";
}

void sl_recover_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	uint32_t position = core->phase == SL_PHASE_RECOVER ? core->view.position[peer] : UINT32_MAX;
	struct sl_holder *holder = position == UINT32_MAX ? NULL : &core->at.holders[position];
	if (holder == NULL || !holder->fetching || memcmp(buffer->view, core->view.h, SL_HASH_BYTES) != 0 ||
	    buffer->origin != core->view.ids[holder->origin]) {
		sl_emit_drop(core, buffer);
		return;
	}
	const char *wrong = check(core, holder, buffer);
	if (wrong != NULL) {
		sl_emit_reject(core, peer, wrong);
		sl_emit_drop(core, buffer);
		stop_fetching(core, holder);
		memset(holder->held, 0,
		       sl_core_held_bytes(&core->view)); /* no request before its next Have */
		return;
	}
	uint64_t most = (uint64_t)core->view.n * core->view.chunks; /* false ones might come without end */
	holder->in++;
	holder->progress = core->now;
	if (holder->brought++ < most)
		core->at.progress = core->now;
	buffer->from = holder->origin;
	buffer->next = NULL;
	sl_emit_job(core, SL_JOB_FETCH, buffer->index, buffer);
	ask_more(core, position);
	if (holder->in < core->view.chunks)
		return;
	stop_fetching(core, holder);
	core->at.slots[holder->origin] = SL_SLOT_UNSEEN;
	/* if it does not match, it is not requested from this participant again */
	holder->held[holder->origin / 8] &= (uint8_t) ~(1u << (holder->origin % 8));
	core->at.fetched++;
}

/* --- ending --- */

/* Return true if all deposits and keys are here. */
static bool has_all(const struct sl_core *core)
{
	return core->at.held_count == core->view.n && core->at.key_count == core->view.n;
}

static void give_up(struct sl_core *core)
{
	if (core->at.given_up || core->at.signs || core->at.digested)
		return;
	core->at.given_up = true;
	sl_aborts_own(core, SL_ABORT_UNSIGNED, core->view.a, &core->at.readys[core->view.self]);
}

/* Return the time at which this learner is stuck, if nothing comes before. It is later than the openings of
 * the others, which follow from the same silence. */
static sl_ms stuck_at(const struct sl_core *core)
{
	return core->at.progress + 2 * core->config.stall_timeout_ms;
}

/* What the participants have said of the result, as far as it is known here: their numbers. */
struct votes {
	uint64_t need;	  /* a commit needs */
	uint64_t signers; /* have signed a Digest */
	uint64_t stuck;	  /* sign none, or are stuck */
	uint64_t present; /* have signed one, or are linked and may */
	bool given_up;	  /* one that sent a Ready signs none */
};

static struct votes count_votes(const struct sl_core *core)
{
	const struct sl_parameters *agreed = &core->view.agreed;
	struct votes votes = {.need = sl_view_digests(core->view.n, agreed->tolerance, agreed->forgetful)};
	for (uint32_t i = 0; i < core->view.n; i++) {
		bool signer = sl_digests_of(core, i) != NULL, here = i == core->view.self;
		bool never = (core->marks[i] & SL_ABORT_UNSIGNED) != 0;
		here |= sl_bit(core->linked, core->view.members[i]);
		votes.signers += signer;
		votes.stuck += !signer && (never || (core->marks[i] & SL_ABORT_STUCK) != 0);
		votes.present += signer || (here && !never);
		votes.given_up |= never && (core->marks[i] & SL_OVER_UNREADY) == 0;
	}
	return votes;
}

/* Return true if the attempt may be given up: those that are stuck, or sign no Digest, are enough to end it,
 * and with those that have signed one as many as a commit needs. */
static bool all_are_stuck(const struct sl_core *core, const struct votes *votes)
{
	return votes->stuck + votes->signers >= votes->need &&
	       votes->stuck + votes->need > core->view.n + core->view.agreed.forgetful;
}

/* Return true if a Digest might be one too few: a participant has given up, and of the others fewer than a
 * commit needs are in reach. After a while that is not so if they cannot end the attempt either. */
static bool must_wait(const struct sl_core *core)
{
	struct votes votes = count_votes(core);
	bool over = core->now >= stuck_at(core) + core->config.stall_timeout_ms;
	return votes.given_up && votes.present < votes.need && !(over && !all_are_stuck(core, &votes));
}

/* Sign for the sum, if it is known and this learner may; else it is kept, and the next steps give the attempt
 * up, or wait. Return true if the phase changed. */
static bool settle(struct sl_core *core)
{
	sl_close_judge(core); /* others may have aborted meanwhile */
	bool hopeless = sl_split_divides(core) || sl_over_hopeless(&core->view, core->marks);
	if (!core->at.result_known || (!core->at.digested && (hopeless || must_wait(core))))
		return false;
	sl_move_to(core, SL_PHASE_CONFIRM);
	sl_confirm_settle(core);
	return true;
}

void sl_recover_verdict(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_attempt_state *at = &core->at;
	if (core->phase != SL_PHASE_RECOVER) {
		sl_check_summed(core, result);
		return;
	}
	at->summing = false;
	at->judging &= result->code == SL_OK; /* else all deposits are needed */
	at->result_known = at->judging && sl_check_judged(core, result->values);
	settle(core);
}

void sl_recover_summed(struct sl_core *core, const struct sl_job_result *result)
{
	core->at.summing = false;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_RECOVERED);
	report->recovered.learners = core->view.n;
	report->recovered.fetched = core->at.fetched;
	core->at.refused = sl_confirm_flaw(core, result);
	if (core->at.refused == SL_REASON_NONE) {
		core->at.result_known = sl_confirm_take(core, result);
		settle(core);
		return;
	}
	report = sl_emit_report(core, SL_REPORT_FAILED); /* all learners see the same sum */
	report->reason = core->at.refused;
	if (report->reason == SL_REASON_RESULT)
		report->why.result.learners = core->view.n;
	give_up(core);
}

/* Sign that this learner is stuck, if it is, and has signed no Digest. Give the attempt up if all are stuck,
 * and stay so for stall_timeout: the words of learners that have just come back into reach are older than
 * what they can show (ROUND.md §9.2 When an attempt is over). A learner that has given up has waited so long
 * already: after it the others give up at once. */
static void say_stuck(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	if (core->now < stuck_at(core)) {
		at->all_stuck = 0;
		return;
	}
	bool said = (core->marks[core->view.self] & SL_ABORT_STUCK) != 0;
	if (!said && !at->signs && !at->digested) {
		sl_aborts_sign(core, SL_ABORT_STUCK, core->view.a, &at->readys[core->view.self]);
		core->marks[core->view.self] |= SL_ABORT_STUCK;
	}
	struct votes votes = count_votes(core);
	if (!all_are_stuck(core, &votes))
		return;
	at->all_stuck = at->all_stuck == 0 ? core->now : at->all_stuck;
	if (votes.given_up || core->now >= at->all_stuck + core->config.stall_timeout_ms)
		give_up(core);
}

/* Find the participants whose deposits no linked participant has, or whose keys are not known. */
static void find_missing(const struct sl_core *core, uint64_t *set)
{
	uint32_t only = sl_check_disputed(core);
	memset(set, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->view.n; i++) {
		bool known = sl_core_has(core->at.known, i);
		bool offered = core->at.slots[i] != SL_SLOT_MISSING;
		for (uint32_t j = 0; j < core->view.n && !offered; j++)
			offered = sl_bit(core->linked, core->view.members[j]) &&
				  sl_core_has(core->at.holders[j].held, i);
		if ((only == SL_NOBODY || only == i) && (!offered || !known))
			sl_bit_set(set, core->view.members[i]);
	}
}

enum sl_wait sl_recover_awaits(const struct sl_core *core, uint64_t *set)
{
	const struct sl_attempt_state *at = &core->at;
	if (at->summing)
		return SL_WAIT_ARITHMETIC;
	if (has_all(core) || at->result_known || at->over_since != SL_NEVER || at->given_up ||
	    at->refused != SL_REASON_NONE)
		return SL_WAIT_OTHERS;
	find_missing(core, set);
	return SL_WAIT_DEPOSITS;
}

/* Return true if a linked participant that sends nothing now has the deposit of `origin`, too. */
static bool has_spare_holder(const struct sl_core *core, uint32_t origin)
{
	for (uint32_t i = 0; i < core->view.n; i++) {
		const struct sl_holder *holder = &core->at.holders[i];
		if (!holder->fetching && core->now >= holder->ask_after &&
		    sl_bit(core->linked, core->view.members[i]) && sl_core_has(holder->held, origin))
			return true;
	}
	return false;
}

/* Return the time at which a participant is too slow with a deposit that another one has, too. */
static sl_ms slow_at(const struct sl_core *core, const struct sl_holder *holder)
{
	sl_ms most = sl_pace_fetch_ms(core);
	return most == SL_NEVER ? SL_NEVER : holder->since + most;
}

/* Request from others what comes no more, or slowly. */
static void drop_stalled(struct sl_core *core)
{
	for (uint32_t i = 0; i < core->view.n; i++) {
		struct sl_holder *holder = &core->at.holders[i];
		bool silent = core->now >= holder->progress + core->config.stall_timeout_ms,
		     slow = holder->fetching && core->now >= slow_at(core, holder) &&
			    has_spare_holder(core, holder->origin);
		if (!holder->fetching || !(silent || slow))
			continue;
		stop_fetching(core, holder);
		holder->ask_after = core->now + core->config.stall_timeout_ms; /* request from others first */
	}
}

/* Find the sum: that which the Checksums confirm or, as soon as all deposits and keys are here, what they
 * give. Return true if the phase changed. */
static bool sum_up(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	if (at->given_up || at->refused != SL_REASON_NONE || (must_wait(core) && !at->digested))
		return false;
	if (sl_check_disputed(core) != SL_NOBODY)
		sl_check_judge(core);
	if (at->result_known || !has_all(core) || at->judging)
		return settle(core);
	at->summing = true;
	sl_emit_job_on(core, SL_JOB_SUM, 0, &core->view)->keys = (const uint8_t(*)[SL_KEY_BYTES])at->keys;
	return false;
}

bool sl_recover_advance(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	if (at->summing)
		return false;
	if (sl_close_attempt(core) || sl_catchup_begin(core))
		return true;
	if (at->over_since != SL_NEVER || sl_catchup_source(core) != SL_NOBODY)
		return false; /* show no more of an attempt that is over; CATCHUP waits for the jobs */
	drop_stalled(core);
	sl_deposit_check(core);
	ask_holders(core);
	sl_have_serve(core);
	if (sl_split_divides(core) || sl_over_hopeless(&core->view, core->marks))
		give_up(core);
	if (core->now >= sl_split_due(core) && sum_up(core))
		return true;
	if (!at->summing)
		say_stuck(core);
	if (core->now < core->report_at)
		return false;
	find_missing(core, core->missing);
	sl_emit_waiting(core, core->missing);
	return false;
}

sl_ms sl_recover_deadline(const struct sl_core *core)
{
	sl_ms opens = sl_open_deadline(core), closes = sl_close_deadline(core), due = core->report_at;
	if (core->at.summing || closes != SL_NEVER)
		return closes;
	due = opens < due ? opens : due;
	if (!core->at.given_up) {
		due = sl_core_sooner(core, due, stuck_at(core));
		due = sl_core_sooner(core, due, stuck_at(core) + core->config.stall_timeout_ms);
		if (core->at.all_stuck != 0)
			due = sl_core_sooner(core, due, core->at.all_stuck + core->config.stall_timeout_ms);
	}
	due = sl_core_sooner(core, due, sl_split_due(core));
	for (uint32_t i = 0; i < core->view.n; i++) {
		const struct sl_holder *holder = &core->at.holders[i];
		if (holder->fetching && holder->progress + core->config.stall_timeout_ms < due)
			due = holder->progress + core->config.stall_timeout_ms;
		due = holder->fetching ? sl_core_sooner(core, due, slow_at(core, holder)) : due;
		due = sl_core_sooner(core, due, holder->ask_after);
	}
	return due > core->now ? due : core->now + 1;
}

uint32_t sl_recover_permille(const struct sl_core *core)
{
	return (uint32_t)((core->at.held_count + core->at.key_count) * UINT64_C(500) / core->view.n);
}
