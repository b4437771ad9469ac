#include "common/core/state.h"

#include <assert.h>

struct sl_action *sl_emit(struct sl_core *core, enum sl_action_kind kind)
{
	assert(core->out->count < SL_ACTIONS_MAX);
	struct sl_action *action = &core->out->items[core->out->count++];
	memset(action, 0, sizeof *action);
	action->kind = kind;
	return action;
}

struct sl_report *sl_emit_report(struct sl_core *core, enum sl_report_kind kind)
{
	struct sl_report *report = &sl_emit(core, SL_ACTION_REPORT)->report;
	report->kind = kind;
	report->phase = core->phase;
	report->t = core->t;
	report->a = core->a;
	return report;
}

void sl_attempt_move(struct sl_core *core, enum sl_phase to)
{
	assert(sl_phase_allows(core->phase, to));
	core->phase = to;
	core->since = core->now;
	core->report_at = core->now + SL_WAIT_REPORT_MS;
	core->at.progress = core->now;
	sl_emit_report(core, SL_REPORT_PHASE);
}

struct sl_job *sl_emit_job_on(struct sl_core *core, enum sl_job_kind kind, uint32_t chunk,
			      const struct sl_view *view)
{
	struct sl_action *action = sl_emit(core, SL_ACTION_COMPUTE);
	action->job = (struct sl_job){.kind = kind, .epoch = core->epoch, .chunk = chunk, .view = view};
	core->jobs++;
	return &action->job;
}

void sl_emit_job(struct sl_core *core, enum sl_job_kind kind, uint32_t chunk, struct sl_buffer *buffers)
{
	sl_emit_job_on(core, kind, chunk, &core->view)->buffers = buffers;
}

struct sl_persist *sl_emit_persist(struct sl_core *core, enum sl_persist_kind kind, sl_attempt a)
{
	struct sl_persist *persist = &sl_emit(core, SL_ACTION_PERSIST)->persist;
	persist->what = (struct sl_durable){.kind = kind, .t = core->t, .a = a};
	return persist;
}

void sl_emit_send(struct sl_core *core, const uint64_t *to, const struct sl_message *message, bool own)
{
	struct sl_action *action = sl_emit(core, SL_ACTION_SEND);
	action->send.to = to;
	action->send.message = *message;
	action->send.own = own;
}

void sl_emit_send_neighbours(struct sl_core *core, const struct sl_message *message, bool own)
{
	sl_emit_send(core, core->view_neighbours, message, own);
}

void sl_emit_stop(struct sl_core *core, int code)
{
	sl_emit_drop_held(core);
	sl_emit(core, SL_ACTION_STOP)->code = code;
	core->stopped = true;
}

void sl_emit_reject(struct sl_core *core, uint32_t peer, const char *why)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_REJECTED);
	report->peer = peer;
	report->word = why;
}

void sl_emit_drop(struct sl_core *core, struct sl_buffer *buffer)
{
	buffer->next = NULL;
	sl_emit(core, SL_ACTION_DROP)->buffers = buffer;
}

static void splice(struct sl_buffer **list, struct sl_buffer **all)
{
	while (*list != NULL) {
		struct sl_buffer *b = *list;
		*list = b->next;
		b->next = *all;
		*all = b;
	}
}

struct sl_buffer *sl_core_held(struct sl_core *core)
{
	struct sl_buffer *all = NULL;
	if (core->view_built)
		for (uint32_t r = 0; r < core->view.degree; r++) {
			splice(&core->exchange[r].held, &all);
			core->exchange[r].held_count = 0;
		}
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		splice(&core->peers[i].early, &all);
		core->peers[i].early_count = 0;
	}
	return all;
}

void sl_emit_drop_held(struct sl_core *core)
{
	struct sl_buffer *all = sl_core_held(core);
	if (all != NULL)
		sl_emit(core, SL_ACTION_DROP)->buffers = all;
}

/* Everything of the attempt goes, and its late results will be known by their epoch. Its Ready is not offered
 * again to a link that comes up: who hears it late would release for nothing. */
static void end_attempt(struct sl_core *core)
{
	core->readys[core->config.self].record.present = false;
	sl_emit_drop_held(core);
	sl_emit(core, SL_ACTION_WIPE);
	core->epoch++;
	core->view_built = false;
	core->view_checked = false;
}

/* Between half and all of 0.5 s, doubling up to 30 s: no two learners in step. The core has no coins, so the
 * jitter is a hash of who, which round and which attempt. */
static sl_ms pause_ms(const struct sl_core *core)
{
	uint32_t shift = core->refusals < 6 ? core->refusals : 6;
	sl_ms base = UINT64_C(500) << shift;
	uint64_t mix = (core->config.ids[core->config.self] * UINT64_C(0x9e3779b97f4a7c15)) ^
		       ((uint64_t)core->t << 32 | core->a) * UINT64_C(0xbf58476d1ce4e5b9);
	mix ^= mix >> 29;
	sl_ms pause = base / 2 + mix % (base / 2 + 1);
	return pause < 30000 ? pause : 30000;
}

/* No number is used twice: what was signed for an attempt must not count for another one of the same view. So
 * after SL_ATTEMPTS_MAX, which years of failures or one liar reach, the learner ends. */
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

/* With the model that is there, or for another one. */
static void go_on(struct sl_core *core)
{
	if (core->trained) {
		sl_attempt_move(core, SL_PHASE_DISCOVER);
		sl_discover_enter(core);
	} else {
		sl_attempt_move(core, SL_PHASE_TRAIN);
		sl_attempt_begin_training(core);
	}
}

void sl_attempt_leave(struct sl_core *core, enum sl_reason reason, bool model_invalidated)
{
	end_attempt(core);
	if (!next_attempt(core, reason)) {
		sl_emit_report(core, SL_REPORT_EXHAUSTED);
		sl_emit_stop(core, SL_ERR_FULL);
		return;
	}
	core->not_before = 0;
	if (model_invalidated)
		sl_emit_report(core, SL_REPORT_MODEL_INVALIDATED);
	core->trained &= !model_invalidated;
	go_on(core);
}

struct sl_report *sl_attempt_fail(struct sl_core *core, enum sl_reason reason, bool refused)
{
	if (sl_core_released(core))
		return sl_recover_enter(core, reason);
	struct sl_report *report = sl_emit_report(core, SL_REPORT_FAILED);
	report->reason = reason;
	memcpy(core->failed, core->missing,
	       sl_core_set_bytes(core)); /* later moves of this step reuse awaited */
	if (core->phase == SL_PHASE_SHARE || core->phase == SL_PHASE_READY)
		sl_abort_own(core, core->a);
	sl_ms pause = refused ? pause_ms(core) : 0;
	sl_attempt_leave(core, reason, false);
	if (refused && !core->stopped) {
		core->not_before = core->now + pause;
		core->refusals++;
	}
	return report;
}

static enum sl_peer_status status(const struct sl_core *core)
{
	enum sl_phase phase = core->phase == SL_PHASE_CATCHUP ? core->catchup.back : core->phase;
	if (phase == SL_PHASE_DONE)
		return SL_PEER_STATUS_DONE;
	if (phase == SL_PHASE_TRAIN)
		return SL_PEER_STATUS_TRAINING;
	return phase >= SL_PHASE_RELEASE && phase <= SL_PHASE_RECOVER ? SL_PEER_STATUS_OPEN
								      : SL_PEER_STATUS_READY;
}

void sl_emit_hello(struct sl_core *core, const uint64_t *to)
{
	struct sl_message message = {.kind = SL_MSG_HELLO};
	struct sl_hello *hello = &message.hello;
	hello->id = core->config.ids[core->config.self];
	hello->incarnation = core->config.incarnation;
	hello->t = core->t;
	hello->a = core->a;
	hello->status = status(core);
	memcpy(hello->run, core->config.scope.run, sizeof hello->run);
	memcpy(hello->roster, core->config.scope.roster, sizeof hello->roster);
	sl_emit_send(core, to, &message, true);
}

void sl_attempt_begin_training(struct sl_core *core)
{
	core->trained = false;
	struct sl_action *action = sl_emit(core, SL_ACTION_TRAIN);
	action->train.t = core->t;
	action->train.draw = core->draws++;
	sl_emit_hello(core, core->linked);
}

void sl_attempt_enter_round(struct sl_core *core)
{
	core->t = core->committed + 1;
	core->a = 1;
	core->seen = 0;
	core->pending_abort = 0;
	core->refusals = 0;
	core->not_before = 0;
	core->full_graph = false;
	core->reach_stale = true; /* the overlay is another one */
	memset(core->open_view, 0, SL_HASH_BYTES);
	sl_release_log_forget(core);
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		const struct sl_link_state *ls = &core->links[i].state;
		core->peers[i].jumped_to = 0;
		if (core->peers[i].quarantined < core->t)
			core->peers[i].quarantined = 0;
		if (core->links[i].record.present && sl_flood_jump(core, i, ls))
			core->links[i].record.present = false;
		if (core->links[i].record.present && ls->t == core->t && ls->a > core->seen)
			core->seen = ls->a;
	}
}

/* After a commit: the phase is TRAIN already. */
void sl_attempt_begin_round(struct sl_core *core)
{
	sl_attempt_enter_round(core);
	sl_discover_ahead(core);
	sl_attempt_begin_training(core);
}

/* Says who is awaited, once in SL_WAIT_REPORT_MS. set NULL: the radio. */
void sl_emit_waiting(struct sl_core *core, const uint64_t *set)
{
	if (core->now < core->report_at)
		return;
	core->report_at = core->now + SL_WAIT_REPORT_MS;
	sl_emit_report(core, SL_REPORT_WAITING)->set = set;
}
