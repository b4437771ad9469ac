/* The door: one event in, the actions it leads to out. */
#include "common/core/state.h"

#include <assert.h>

/* What cannot go on: never released, it is given up; else somebody may complete it, and there is no going on
 * without. */
static bool abort_open_attempt(struct sl_core *core, const struct sl_open *open)
{
	if (!open->released) {
		core->a = core->a > open->a ? core->a : open->a + 1;
		sl_abort_own(core, open->a);
		return true;
	}
	struct sl_report *report = sl_emit_report(core, SL_REPORT_FAILED);
	report->reason = SL_REASON_RECORD;
	report->n[0] = open->a;
	sl_emit_stop(core, SL_ERR_FORMAT);
	return false;
}

/* What was promised before this start still holds. */
static void resume(struct sl_core *core)
{
	const struct sl_core_config *config = &core->config;
	for (uint32_t i = 0; i < config->released_count; i++) {
		sl_release_log_note(core, config->released[i]);
		core->a = config->released[i] + 1;
	}
	core->release_log.closed = config->closed;
	core->release_log.aborted = config->aborted;
	core->a = config->aborted >= core->a ? config->aborted + 1 : core->a;
	if (config->aborted > 0)
		sl_abort_durable(core, config->aborted);
	if (config->open != NULL && sl_restore(core))
		return;
	if (config->open != NULL && !abort_open_attempt(core, config->open))
		return;
	sl_discover_ahead(core);
	sl_attempt_begin_training(core);
}

/* In range without a radio: the whole roster. */
static void start(struct sl_core *core)
{
	core->since = core->now;
	core->report_at = core->now + SL_WAIT_REPORT_MS;
	if (!core->config.range_by_control) {
		for (uint32_t i = 0; i < core->config.roster_size; i++)
			if (i != core->config.self)
				sl_bit_set(core->range, i);
		core->have_range = true;
	}
	sl_attempt_enter_round(core);
	core->started = core->t;
	sl_discover_links(core);
	if (core->committed >= core->rounds && core->config.open == NULL)
		sl_attempt_move(core, SL_PHASE_DONE);
	else
		resume(core);
}

static void link_up(struct sl_core *core, uint32_t peer)
{
	sl_bit_set(core->linked, peer);
	core->peers[peer].hello = false;
	core->peers[peer].unshown = 0;
	core->reach_stale = true;
	if (core->peers[peer].tried) {
		core->peers[peer].tried = false;
		sl_discover_anew(core);
	}
	sl_flood_forget(core, peer);
	sl_recover_link(core, peer);
	memset(core->single, 0, sl_core_set_bytes(core));
	sl_bit_set(core->single, peer);
	sl_emit_hello(core, core->single);
	sl_catchup_greet(core);
}

static void link_down(struct sl_core *core, uint32_t peer)
{
	bool was = sl_bit(core->linked, peer);
	sl_bit_clear(core->linked, peer);
	core->reach_stale = true;
	core->peers[peer].hello = false;
	core->peers[peer].tried = true;
	sl_discover_anew(core);
	if (!was)
		return;
	sl_recover_link(core, peer);
	bool candidate = core->phase == SL_PHASE_AGREE && sl_bit(core->tried_candidates, peer);
	bool neighbour = sl_core_exchanging(core) && sl_bit(core->view_neighbours, peer);
	if (candidate || neighbour)
		sl_attempt_fail(core, SL_REASON_LINK, false)->peer = peer;
	else if (core->phase == SL_PHASE_CATCHUP && core->catchup.from == peer)
		sl_catchup_lost(core);
}

/* A peer that knows less of itself than is known here has lost some of its disk: what it promised in this
 * round it may have forgotten, so it is kept out of it (protocol 5, AGREE). Where everybody has to take part,
 * no two groups can promise different things, and nothing would ever commit without it. */
static void look_back(struct sl_core *core, uint32_t peer, const struct sl_hello *hello)
{
	struct sl_peer *p = &core->peers[peer];
	bool restored = hello->incarnation < p->incarnation;
	bool forgot = hello->t < p->t;
	if ((restored || forgot) && p->quarantined == 0 &&
	    core->config.parameters.quorum < core->config.roster_size) {
		p->quarantined = core->t;
		struct sl_report *report = sl_emit_report(core, SL_REPORT_QUARANTINED);
		report->peer = peer;
		report->word = restored ? "incarnation" : "round";
		report->n[0] = restored ? hello->incarnation : hello->t;
		report->n[1] = restored ? p->incarnation : p->t;
	}
	p->incarnation = hello->incarnation; /* known now: once it has been kept out of a round, it may go on
						from there */
}

/* It has committed the round elsewhere: an attempt that counts on it cannot come to anything. After release
 * it may be this very attempt. */
static bool went_on(const struct sl_core *core, uint32_t peer)
{
	bool counted_on = core->phase == SL_PHASE_AGREE
				  ? sl_bit(core->tried_candidates, peer)
				  : core->phase == SL_PHASE_SHARE && sl_bit(core->view_neighbours, peer);
	return counted_on && core->peers[peer].t > core->t;
}

static void hello(struct sl_core *core, uint32_t peer, const struct sl_hello *hello)
{
	struct sl_peer *p = &core->peers[peer];
	if (hello->id != core->config.ids[peer]) {
		sl_emit_reject(core, peer, "a hello in another learner's name");
		return;
	}
	look_back(core, peer, hello);
	bool later = hello->t > p->t;
	p->hello = true;
	p->t = hello->t;
	p->status = hello->status;
	if (later && core->phase == SL_PHASE_CATCHUP && core->catchup.from == peer)
		sl_catchup_lost(core); /* a commit lay between: it has another one to show, and maybe nothing
					  while it lasted */
	if (core->phase == SL_PHASE_DONE && hello->status != SL_PEER_STATUS_DONE && hello->t >= core->t) {
		core->rounds = hello->t; /* the others have agreed on more rounds than are configured here */
		sl_attempt_move(core, SL_PHASE_TRAIN);
		sl_attempt_begin_round(core);
	}
	if (went_on(core, peer))
		sl_attempt_fail(core, SL_REASON_COMMITTED, false)->peer = peer;
}

/* The common prologue of chunks: which round, which attempt; then the view decides. */
static void chunk(struct sl_core *core, uint32_t peer, const struct sl_message *message,
		  struct sl_buffer *buffer)
{
	const struct sl_chunk *c = &message->chunk;
	buffer->index = c->index;
	buffer->iteration = c->iteration;
	memcpy(buffer->view, c->view, SL_HASH_BYTES);
	buffer->origin = c->origin;
	memcpy(buffer->nonce, c->nonce, SL_NONCE_BYTES);
	if (message->kind == SL_MSG_RESULT)
		sl_catchup_chunk(core, peer, buffer, c->t);
	else if (c->t != core->t || c->a < core->a)
		sl_emit_drop(core, buffer); /* late: of an attempt that ended here */
	else if (message->kind == SL_MSG_SHARE)
		sl_share_chunk(core, peer, buffer);
	else if (message->kind == SL_MSG_MASKED)
		sl_recover_chunk(core, peer, buffer);
	else
		sl_mix_chunk(core, peer, buffer);
}

static void message(struct sl_core *core, const struct sl_event *event)
{
	switch (event->message->kind) {
	case SL_MSG_HELLO:
		hello(core, event->peer, &event->message->hello);
		break;
	case SL_MSG_LINK_STATE:
		sl_flood_link_state(core, event->peer, &event->message->link_state);
		break;
	case SL_MSG_READY:
		sl_flood_ready(core, event->peer, &event->message->ready);
		break;
	case SL_MSG_DIGEST:
		if (core->phase == SL_PHASE_CATCHUP)
			sl_catchup_digest(core, event->peer, &event->message->digest);
		else
			sl_confirm_digest(core, event->peer, &event->message->digest);
		break;
	case SL_MSG_REQUEST:
		if (event->message->request.origin != 0)
			sl_recover_request(core, event->peer, &event->message->request);
		else
			sl_catchup_request(core, event->peer, &event->message->request);
		break;
	case SL_MSG_ABORT:
		sl_flood_abort(core, event->peer, &event->message->abort_record);
		break;
	case SL_MSG_HAVE:
		sl_recover_have(core, event->peer, &event->message->have);
		break;
	case SL_MSG_SHARE:
	case SL_MSG_STATE:
	case SL_MSG_RESULT:
	case SL_MSG_MASKED:
		chunk(core, event->peer, event->message, event->buffer);
		break;
	}
}

static void trained(struct sl_core *core)
{
	core->trained = true;
	core->trained_at = core->now;
	sl_attempt_move(core, SL_PHASE_DISCOVER);
	sl_discover_enter(core);
}

static void computed(struct sl_core *core, const struct sl_job_result *result)
{
	assert(core->jobs > 0);
	core->jobs--;
	if (result->epoch != core->epoch)
		return;
	switch (result->kind) {
	case SL_JOB_ANALYSE:
		sl_agree_analysed(core, result);
		break;
	case SL_JOB_MIX:
		sl_mix_result(core, result);
		break;
	case SL_JOB_CLOSE:
	case SL_JOB_DECODE:
		sl_confirm_result(core, result);
		break;
	case SL_JOB_BACKUP:
	case SL_JOB_FETCH:
	case SL_JOB_CHECK:
	case SL_JOB_SUM:
		sl_recover_result(core, result);
		break;
	case SL_JOB_ABSORB:
	case SL_JOB_ADOPT:
		sl_catchup_result(core, result);
		break;
	default:
		sl_share_result(core, result);
	}
}

/* What it was asked for may be over by now. */
static void durable(struct sl_core *core, const struct sl_durable *what)
{
	bool present = what->t == core->t && what->a == core->a;
	if (what->kind == SL_PERSIST_ABORTED && what->t == core->t)
		sl_abort_durable(core, what->a);
	else if (what->kind == SL_PERSIST_PREPARED && present && core->phase == SL_PHASE_READY)
		sl_ready_prepared(core);
	else if (what->kind == SL_PERSIST_RELEASED && present && core->phase == SL_PHASE_RELEASE)
		sl_ready_released(core);
	else if (what->kind == SL_PERSIST_COMMIT && core->phase == SL_PHASE_CATCHUP)
		sl_catchup_durable(core);
	else if (what->kind == SL_PERSIST_COMMIT && core->phase == SL_PHASE_COMMIT)
		sl_confirm_durable(core);
}

/* An operator's word for what cannot be proved (protocol 6). */
static void operator_abort(struct sl_core *core)
{
	if (core->phase == SL_PHASE_READY)
		sl_attempt_fail(core, SL_REASON_OPERATOR_ABORT, false);
	else
		core->at.operator_aborted = true;
}

static void handle(struct sl_core *core, const struct sl_event *event)
{
	switch (event->kind) {
	case SL_EVENT_START:
		start(core);
		break;
	case SL_EVENT_LINK_UP:
		link_up(core, event->peer);
		break;
	case SL_EVENT_LINK_DOWN:
		link_down(core, event->peer);
		break;
	case SL_EVENT_MESSAGE:
		message(core, event);
		break;
	case SL_EVENT_TRAINED:
		trained(core);
		break;
	case SL_EVENT_COMPUTED:
		computed(core, event->result);
		break;
	case SL_EVENT_DURABLE:
		durable(core, &event->durable);
		break;
	case SL_EVENT_OPERATOR_ABORT:
		operator_abort(core);
		break;
	case SL_EVENT_RANGE:
		sl_discover_range(core, event->range);
		break;
	case SL_EVENT_DEADLINE:
		break;
	}
}

/* Takes every move that is due. */
static void advance(struct sl_core *core)
{
	bool moved = true;
	while (moved && !core->stopped) {
		sl_abort_pending(core);
		switch (core->phase) {
		case SL_PHASE_DISCOVER:
			moved = sl_discover_advance(core);
			break;
		case SL_PHASE_AGREE:
			moved = sl_agree_advance(core);
			break;
		case SL_PHASE_SHARE:
			moved = sl_share_advance(core);
			break;
		case SL_PHASE_READY:
			moved = sl_ready_advance(core);
			break;
		case SL_PHASE_MIX:
			moved = sl_mix_advance(core);
			break;
		case SL_PHASE_CONFIRM:
			moved = sl_confirm_advance(core);
			break;
		case SL_PHASE_RECOVER:
			moved = sl_recover_advance(core);
			break;
		case SL_PHASE_CATCHUP:
			moved = sl_catchup_advance(core);
			break;
		case SL_PHASE_DONE:
			moved = sl_confirm_done_advance(core);
			break;
		default:
			moved = false;
		}
	}
	if (!core->stopped)
		sl_flood_pump(core);
}

/* What each kind of event must bring, and when it may come. */
static bool allowed(const struct sl_core *core, const struct sl_event *event)
{
	bool started = core->t != 0;
	bool peer = event->peer < core->config.roster_size && event->peer != core->config.self;
	switch (event->kind) {
	case SL_EVENT_START:
		return !started;
	case SL_EVENT_LINK_UP:
	case SL_EVENT_LINK_DOWN:
		return started && peer;
	case SL_EVENT_MESSAGE:
		return started && peer && event->message != NULL &&
		       (event->message->kind < SL_MSG_SHARE) == (event->buffer == NULL);
	case SL_EVENT_TRAINED:
		return started && core->phase == SL_PHASE_TRAIN && !core->trained;
	case SL_EVENT_COMPUTED:
		return started && event->result != NULL && core->jobs > 0;
	case SL_EVENT_DURABLE:
		return started;
	case SL_EVENT_OPERATOR_ABORT:
		return started && event->round == core->t &&
		       ((core->phase == SL_PHASE_READY && core->at.prepared) ||
			core->phase == SL_PHASE_RECOVER);
	case SL_EVENT_RANGE:
		return started && event->range != NULL && core->config.range_by_control;
	case SL_EVENT_DEADLINE:
		return started;
	}
	return false;
}

int sl_core_step(struct sl_core *core, const struct sl_event *event, struct sl_actions *actions)
{
	actions->count = 0;
	if (core->stopped || !allowed(core, event))
		return SL_ERR_INVALID;
	core->out = actions;
	core->now = event->now;
	handle(core, event);
	advance(core);
	core->out = NULL;
	return SL_OK;
}

static sl_ms phase_deadline(const struct sl_core *core)
{
	switch (core->phase) {
	case SL_PHASE_DISCOVER:
		return sl_discover_deadline(core);
	case SL_PHASE_AGREE:
		return core->view_built || core->jobs > 0
			       ? SL_NEVER
			       : core->at.progress + core->config.agreement_timeout_ms;
	case SL_PHASE_SHARE:
	case SL_PHASE_MIX:
		return core->jobs > 0 ? SL_NEVER : core->at.progress + core->config.stall_timeout_ms;
	case SL_PHASE_READY:
		if (!core->at.prepared)
			return SL_NEVER; /* the disk is awaited */
		return core->report_at < core->since + core->config.prepare_timeout_ms
			       ? core->report_at
			       : core->since + core->config.prepare_timeout_ms;
	case SL_PHASE_CONFIRM:
		return core->at.result_known ? core->since + core->config.confirm_timeout_ms : SL_NEVER;
	case SL_PHASE_RECOVER:
		return sl_recover_deadline(core);
	case SL_PHASE_CATCHUP:
		return core->jobs > 0 || core->catchup.in == core->catchup.chunks
			       ? SL_NEVER
			       : core->catchup.progress + core->config.stall_timeout_ms;
	case SL_PHASE_DONE:
		return core->since + core->config.serve_after_end_ms;
	default:
		return SL_NEVER;
	}
}

sl_ms sl_core_deadline(const struct sl_core *core)
{
	if (core->stopped)
		return SL_NEVER;
	if (core->flood_dirty)
		return core->now;
	sl_ms due = phase_deadline(core);
	return due < core->flood_again ? due : core->flood_again;
}

static uint32_t permille(uint64_t done, uint64_t all)
{
	return all == 0 ? 0 : (uint32_t)(done * 1000 / all);
}

void sl_core_status(const struct sl_core *core, struct sl_core_status *status)
{
	*status = (struct sl_core_status){
		.t = core->t, .committed = core->committed, .a = core->a, .phase = core->phase};
	if (!core->view_checked)
		return;
	status->learners = core->view.n;
	status->engine = core->view.engine;
	status->steps = core->view.steps;
	if (core->phase == SL_PHASE_SHARE)
		status->permille = permille(core->at.share_next, core->view.chunks);
	else if (core->phase == SL_PHASE_RECOVER)
		status->permille = permille(core->at.held_count, core->view.n);
	else if (core->phase == SL_PHASE_MIX && core->view.engine == SL_ENGINE_TREE)
		status->permille = permille(core->at.finished, core->view.chunks);
	else if (core->phase == SL_PHASE_MIX)
		status->permille = permille(core->at.mixed, core->view.steps * core->view.chunks);
}
