/* Collect the masked states of all participants and add them up (PROTOCOL.md §10.3 Asking and answering).
 *
 *    this learner                      another participant
 *         | ---- Have {held} ------------> |   to all linked participants
 *         | <--- Have {held} ------------- |
 *         | ---- Request i, chunk 0 .. --> |   SL_WINDOW ahead, one i at a time from each participant
 *         | <--- Masked i, chunk 0 .. ---- |
 *         | ---- Have {held, i} ---------> |   when i's masked state matches the commitment in i's Ready
 *
 * RECOVER ends as §10.4 How recovery ends says. Until then this learner takes part in no other attempt of the
 * round (§9.4 The safety rule). */
#include "common/core/recover.h"

#include "common/core/attempt.h"
#include "common/core/catchup.h"
#include "common/core/confirm.h"
#include "common/core/emit.h"
#include "common/core/mix.h"
#include "common/core/move.h"
#include "common/core/releases.h"

#define ASKING_MAX 128u /* actions of a step that may be spent on requests */

/* --- beginning --- */

void sl_recover_begin(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	memset(at->held, 0, sl_core_held_bytes(&core->view));
	for (uint32_t i = 0; i < core->view.n; i++) {
		at->slots[i] = SL_SLOT_UNSEEN;
		at->holders[i].told = 0;
	}
	at->edition = 1;
	at->held_count = at->fetched = 0;
	at->checking = at->summing = at->weightless = at->operator_aborted = false;
	at->over_since = SL_NEVER;
}

/* Store the neighbours' first states that are not mixed yet; drop the other states that are held. */
static void keep_first_states(struct sl_core *core)
{
	struct sl_buffer *keep = NULL;
	for (uint32_t r = 0; r < core->view.degree; r++) {
		struct sl_buffer **p = &core->exchange[r].held;
		while (*p != NULL) {
			struct sl_buffer *b = *p;
			if (!sl_mix_first(core, b)) {
				p = &b->next;
				continue;
			}
			*p = b->next;
			b->next = keep;
			keep = b;
		}
	}
	if (keep != NULL)
		sl_emit_job(core, SL_JOB_BACKUP, 0, keep);
	sl_emit_drop_held(core);
}

struct sl_report *sl_recover_fail(struct sl_core *core, enum sl_reason reason, bool refused)
{
	(void)refused; /* no other attempt follows */
	struct sl_report *report = sl_emit_report(core, SL_REPORT_RECOVERING);
	report->reason = reason;
	report->recovering.learners = core->view.n;
	memcpy(core->failed, core->missing, sl_core_set_bytes(core));
	core->epoch++; /* results of MIX jobs are late from here on */
	keep_first_states(core);
	sl_recover_begin(core);
	sl_move_to(core, SL_PHASE_RECOVER);
	return report;
}

void sl_recover_enter(struct sl_core *core)
{
	if (core->before == SL_PHASE_CATCHUP)
		core->at.edition++; /* requests during CATCHUP got no answer: send Have again */
	else
		sl_emit_hello(core, core->linked);
}

/* --- which participant has what --- */

static bool has(const uint8_t *set, uint32_t i)
{
	return (set[i / 8] >> (i % 8)) & 1;
}

static bool of_this_view(const struct sl_core *core, sl_round t, const uint8_t *view)
{
	return core->view_checked && t == core->t && memcmp(view, core->view.h, SL_HASH_BYTES) == 0;
}

void sl_recover_have(struct sl_core *core, uint32_t peer, const struct sl_message *message)
{
	const struct sl_have *have = &message->have;
	if (!of_this_view(core, have->t, have->view) || core->phase < SL_PHASE_READY)
		return;
	uint32_t position = core->view.position[peer];
	if (position == UINT32_MAX || have->size != sl_core_held_bytes(&core->view)) {
		sl_emit_reject(core, peer, "says that it holds masked states of a view that it is not in");
		return;
	}
	memcpy(core->at.holders[position].held, have->held, have->size);
	core->at.joined = peer;
	if (core->phase == SL_PHASE_MIX)
		sl_attempt_fail(core, SL_REASON_JOINED, false)->peer = peer;
}

void sl_recover_link(struct sl_core *core, uint32_t peer)
{
	uint32_t position = core->view_checked ? core->view.position[peer] : UINT32_MAX;
	if (position == UINT32_MAX)
		return;
	struct sl_holder *holder = &core->at.holders[position];
	holder->told = 0;
	memset(holder->held, 0, sl_core_held_bytes(&core->view));
	if (holder->fetching)
		core->at.slots[holder->origin] = SL_SLOT_UNSEEN;
	holder->fetching = false;
}

static void tell_held(struct sl_core *core)
{
	uint64_t any = 0;
	memset(core->have_targets, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->view.n; i++) {
		uint32_t peer = core->view.members[i];
		if (!sl_bit(core->linked, peer) || core->at.holders[i].told == core->at.edition)
			continue;
		core->at.holders[i].told = core->at.edition;
		sl_bit_set(core->have_targets, peer);
		any = 1;
	}
	if (any == 0)
		return;
	struct sl_message message = {.kind = SL_MSG_HAVE};
	message.have.t = core->t;
	message.have.a = core->a;
	memcpy(message.have.view, core->view.h, SL_HASH_BYTES);
	message.have.size = (uint32_t)sl_core_held_bytes(&core->view);
	message.have.held = core->at.held;
	sl_emit_send(core, core->have_targets, &message, true);
}

/* --- requests and answers --- */

static size_t chunk_bytes(const struct sl_core *core, uint32_t index)
{
	return sl_view_chunk_elements(&core->view, index) * core->view.field.bytes;
}

void sl_recover_request(struct sl_core *core, uint32_t peer, const struct sl_request *request)
{
	uint32_t origin = sl_core_index(core, request->origin);
	bool open = core->view_checked && sl_core_released(core) && core->phase != SL_PHASE_RELEASE &&
		    request->t == core->t && request->a == core->view.a;
	if (!open || origin == UINT32_MAX || core->view.position[peer] == UINT32_MAX ||
	    request->index >= core->view.chunks)
		return;
	uint32_t position = core->view.position[origin];
	if (position == UINT32_MAX || !has(core->at.held, position))
		return;
	struct sl_chunk chunk = {.origin = request->origin,
				 .index = request->index,
				 .size = chunk_bytes(core, request->index)};
	size_t at = (size_t)request->index * SL_CHUNK_ELEMENTS * core->view.field.bytes;
	sl_emit_chunk(core, sl_core_only(core, peer), SL_MSG_MASKED, chunk,
		      (struct sl_payload){.source = SL_SOURCE_SLOT, .row = position, .at = at});
}

static void ask_more(struct sl_core *core, uint32_t position)
{
	struct sl_holder *holder = &core->at.holders[position];
	struct sl_message message = {.kind = SL_MSG_REQUEST};
	message.request.t = core->t;
	message.request.a = core->view.a;
	message.request.origin = core->view.ids[holder->origin];
	memset(holder->to, 0, sl_core_set_bytes(core));
	sl_bit_set(holder->to, core->view.members[position]);
	for (; holder->asked < core->view.chunks && holder->asked < holder->in + SL_WINDOW; holder->asked++) {
		message.request.index = holder->asked;
		sl_emit_send(core, holder->to, &message, true);
	}
}

/* Return the position of a missing masked state that `holder` has, or SL_NOBODY. Learners begin with
 * different positions, so that they request different ones. */
static uint32_t choose_origin(const struct sl_core *core, const struct sl_holder *holder)
{
	for (uint32_t k = 1; k < core->view.n; k++) {
		uint32_t origin = (core->view.self + k) % core->view.n;
		if (core->at.slots[origin] == SL_SLOT_MISSING && has(holder->held, origin))
			return origin;
	}
	return SL_NOBODY;
}

static void ask_holders(struct sl_core *core)
{
	for (uint32_t i = 0; i < core->view.n; i++) {
		struct sl_holder *holder = &core->at.holders[i];
		if (holder->fetching || core->now < holder->ask_after ||
		    !sl_bit(core->linked, core->view.members[i]))
			continue;
		uint32_t origin = choose_origin(core, holder);
		if (origin == SL_NOBODY)
			continue;
		core->at.slots[origin] = SL_SLOT_FETCHING;
		holder->fetching = true;
		holder->origin = origin;
		holder->asked = holder->in = 0;
		holder->progress = core->now;
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
		return "a masked state out of order";
	return b->size == chunk_bytes(core, b->index) ? NULL : "a masked state of the wrong size";
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
	holder->in++;
	holder->progress = core->now;
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

/* --- slots --- */

static void check_next(struct sl_core *core)
{
	for (uint32_t i = 0; i < core->view.n && !core->at.checking; i++) {
		if (core->at.slots[i] != SL_SLOT_UNSEEN)
			continue;
		core->at.slots[i] = SL_SLOT_CHECKING;
		core->at.checking = true;
		sl_emit_job(core, SL_JOB_CHECK, i, NULL);
		core->out->items[core->out->count - 1].job.expected = core->at.readys[i].commitment;
	}
}

void sl_recover_checked(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_attempt_state *at = &core->at;
	at->checking = false;
	if (result->code != SL_OK) {
		at->slots[result->chunk] = SL_SLOT_MISSING;
		return;
	}
	at->slots[result->chunk] = SL_SLOT_HELD;
	at->held[result->chunk / 8] |= (uint8_t)(1u << (result->chunk % 8));
	at->held_count++;
	at->edition++;
}

void sl_recover_summed(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_RECOVERED);
	report->recovered.learners = core->view.n;
	report->recovered.fetched = core->at.fetched;
	if (sl_confirm_weightless(core, result)) {
		core->at.weightless = true;
		core->report_at = core->now;
		return;
	}
	sl_move_to(core, SL_PHASE_CONFIRM);
	sl_confirm_result(core, result);
}

/* --- ending --- */

/* Close the attempt if the safety rule allows it, or the operator aborts it (PROTOCOL.md §9.4 The safety
 * rule). Before the reuse rule invalidates the model, wait for more Aborts. Return true if the attempt is
 * over. */
static bool close_attempt(struct sl_core *core)
{
	struct sl_used *used = sl_releases_find(core, core->view.a);
	struct sl_attempt_state *at = &core->at;
	if (used == NULL || (!sl_release_log_may_proceed(used, sl_core_words(core)) &&
			     !at->operator_aborted && !sl_releases_aborted_by_all(core)))
		return false;
	bool reusable = sl_release_log_may_reuse(&core->release_log, core->draws, core->view.agreed.tolerance,
						 sl_core_words(core));
	if (at->over_since == SL_NEVER)
		at->over_since = core->now;
	if (core->trained && !reusable && !at->operator_aborted &&
	    core->now < at->over_since + core->config.hello_timeout_ms)
		return false;
	uint32_t who = sl_releases_abort_of_view(core);
	sl_emit_report(core, SL_REPORT_CLOSED)->peer = at->operator_aborted ? SL_NOBODY : who;
	sl_emit_persist(core, SL_PERSIST_CLOSED, core->view.a);
	core->release_log.closed = core->view.a;
	sl_releases_abort_own(core, core->view.a);
	memset(core->open_view, 0, SL_HASH_BYTES);
	sl_attempt_leave(core, SL_REASON_ABORTED, core->trained && (!reusable || at->weightless));
	return true;
}

/* Report the participants whose masked states no linked participant has; or that the sum has no weight. */
static void report_missing(struct sl_core *core)
{
	if (core->now < core->report_at)
		return;
	if (core->at.weightless) {
		core->report_at = core->now + SL_WAIT_REPORT_MS;
		sl_emit_report(core, SL_REPORT_WAITING)->reason = SL_REASON_WEIGHTLESS;
		return;
	}
	memset(core->missing, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->view.n; i++) {
		bool offered = core->at.slots[i] != SL_SLOT_MISSING;
		for (uint32_t j = 0; j < core->view.n && !offered; j++)
			offered = sl_bit(core->linked, core->view.members[j]) &&
				  has(core->at.holders[j].held, i);
		if (!offered)
			sl_bit_set(core->missing, core->view.members[i]);
	}
	sl_emit_waiting(core, core->missing);
}

static void drop_stalled(struct sl_core *core)
{
	for (uint32_t i = 0; i < core->view.n; i++) {
		struct sl_holder *holder = &core->at.holders[i];
		if (!holder->fetching || core->now < holder->progress + core->config.stall_timeout_ms)
			continue;
		stop_fetching(core, holder);
		holder->ask_after = core->now + core->config.stall_timeout_ms; /* request from others first */
	}
}

bool sl_recover_advance(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	if (close_attempt(core) || sl_catchup_begin(core))
		return true;
	if (at->weightless) {
		tell_held(core);
		report_missing(core);
	}
	if (at->summing || at->over_since != SL_NEVER || sl_catchup_source(core) != SL_NOBODY)
		return false; /* show no more of a closed attempt; CATCHUP waits for the jobs */
	drop_stalled(core);
	check_next(core);
	ask_holders(core);
	if (at->held_count == core->view.n) {
		at->summing = true;
		sl_emit_job(core, SL_JOB_SUM, 0, NULL);
	}
	tell_held(core);
	report_missing(core);
	return false;
}

sl_ms sl_recover_deadline(const struct sl_core *core)
{
	sl_ms due = core->report_at;
	if (core->at.over_since != SL_NEVER && core->at.over_since + core->config.hello_timeout_ms < due)
		due = core->at.over_since + core->config.hello_timeout_ms;
	for (uint32_t i = 0; i < core->view.n; i++) {
		const struct sl_holder *holder = &core->at.holders[i];
		if (holder->fetching && holder->progress + core->config.stall_timeout_ms < due)
			due = holder->progress + core->config.stall_timeout_ms;
		if (holder->ask_after > core->now && holder->ask_after < due)
			due = holder->ask_after;
	}
	return due > core->now ? due : core->now + 1;
}

uint32_t sl_recover_permille(const struct sl_core *core)
{
	return (uint32_t)(core->at.held_count * UINT64_C(1000) / core->view.n);
}
