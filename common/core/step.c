/* The entry point: one event in, the actions it leads to out. */
#include <assert.h>

#include "common/core/aborts.h"
#include "common/core/state_loss.h"
#include "common/core/agree.h"
#include "common/core/allowance.h"
#include "common/core/attempt.h"
#include "common/core/catchup.h"
#include "common/core/check.h"
#include "common/core/certificate.h"
#include "common/core/confirm.h"
#include "common/core/discover.h"
#include "common/core/done.h"
#include "common/core/emit.h"
#include "common/core/deposit.h"
#include "common/core/flood.h"
#include "common/core/have.h"
#include "common/core/mix.h"
#include "common/core/model.h"
#include "common/core/move.h"
#include "common/core/open.h"
#include "common/core/penalty.h"
#include "common/core/ready.h"
#include "common/core/recover.h"
#include "common/core/relay.h"
#include "common/core/restore.h"
#include "common/core/share.h"
#include "common/core/spare.h"
#include "common/core/split.h"
#include "common/core/train.h"

/* The attempt of the record cannot go on. If it was not released, abort it. If it was, another learner may
 * complete it, and without the record this learner must not continue: stop, and return false. */
static bool abort_open_attempt(struct sl_core *core, const struct sl_open *open)
{
	if (open->state != SL_OPEN_RELEASED) {
		core->a = core->a > open->a ? core->a : open->a + 1;
		core->abstains = core->t; /* its Ready may have left: it is bound, and cannot help */
		sl_aborts_own(core, open->ready_count > 0 ? SL_ABORT_UNRELEASED : SL_ABORT_PROMISES, open->a,
			      open->ready_count > 0 ? open->readys : NULL);
		return true;
	}
	struct sl_report *report = sl_emit_report(core, SL_REPORT_FAILED);
	report->reason = SL_REASON_RECORD;
	report->why.attempt.a = open->a;
	sl_emit_stop(core, SL_ERR_FORMAT);
	return false;
}

/* Go on from what the disk remembers of round t: Aborts, attempts that are over, an open attempt. */
static void resume(struct sl_core *core)
{
	const struct sl_core_config *config = &core->config;
	core->a = config->aborted + 1;
	for (uint32_t k = 0; k < config->over_count; k++)
		core->a = config->over[k].a >= core->a ? config->over[k].a + 1 : core->a;
	sl_aborts_restore(core);
	if (config->open != NULL && sl_restore(core)) {
		sl_discover_links(core); /* to the neighbours in it */
		return;
	}
	if (config->open != NULL && !abort_open_attempt(core, config->open))
		return;
	if (core->a > SL_ATTEMPTS_MAX) {
		sl_attempt_exhausted(core);
		return;
	}
	sl_train_begin(core);
}

/* The first event. With `neighbours: roster`, all peers are in range. */
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
	sl_train_round(core);
	core->started = core->t;
	sl_discover_links(core);
	if (core->committed >= core->rounds && core->config.open == NULL)
		sl_move_to(core, SL_PHASE_DONE);
	else
		resume(core);
}

static void link_up(struct sl_core *core, uint32_t peer)
{
	sl_bit_set(core->linked, peer);
	core->peers[peer].hello = false;
	core->peers[peer].told = core->peers[peer].told_us = false;
	core->peers[peer].asked.unshown = 0;
	core->reach_stale = true;
	if (core->peers[peer].tried) {
		core->peers[peer].tried = false;
		sl_discover_anew(core);
	}
	sl_relay_forget(core, peer);
	sl_spare_link(core, peer);
	sl_have_link(core, peer);
	sl_state_loss_remind(core, peer);
	sl_emit_hello(core, sl_emit_only(core, peer));
	sl_certificate_sign(core, sl_emit_only(core, peer));
	if (core->links[peer].record.present) /* it may sign no other link state before something changes */
		sl_model_tell(core, peer);
}

static void link_down(struct sl_core *core, uint32_t peer)
{
	bool was = sl_bit(core->linked, peer);
	sl_bit_clear(core->linked, peer);
	sl_spare_link(core, peer);
	core->reach_stale = true;
	core->peers[peer].hello = false;
	core->peers[peer].tried = true;
	if (was)
		core->peers[peer].down_since = core->now;
	sl_discover_anew(core);
	if (!was)
		return;
	sl_have_link(core, peer);
	if (core->phases[core->phase].lost != NULL)
		core->phases[core->phase].lost(core, peer);
}

/* Return true if the attempt needs `peer`, which has committed the round elsewhere: the attempt cannot
 * succeed. After the release the peer may have committed this very attempt. */
static bool went_on(const struct sl_core *core, uint32_t peer)
{
	bool counted_on = core->phase == SL_PHASE_AGREE
				  ? sl_bit(core->tried_candidates, peer)
				  : core->phase == SL_PHASE_SHARE && sl_bit(core->view_neighbours, peer);
	return counted_on && core->peers[peer].t > core->t;
}

static void hello(struct sl_core *core, uint32_t peer, const struct sl_message *message)
{
	const struct sl_hello *hello = &message->hello;
	struct sl_peer *p = &core->peers[peer];
	if (hello->id != core->config.ids[peer]) {
		sl_emit_reject(core, peer, "a hello in another learner's name");
		return;
	}
	if (p->hello &&
	    (hello->incarnation != p->incarnation || hello->t < p->t)) { /* a start breaks links */
		sl_emit_reject(core, peer, "a hello of another start, or of an earlier round, over one link");
		sl_penalty_lied(core, peer);
		return;
	}
	if (hello->t < p->t)
		sl_penalty_went_back(core, peer);
	bool later = hello->t > p->t;
	p->hello = true;
	p->t = hello->t;
	p->a = hello->a;
	p->status = hello->status;
	p->incarnation = hello->incarnation;
	sl_spare_hello(core, peer, hello->records);
	sl_aborts_show(core, peer);
	sl_certificate_hello(core, peer);
	if (later && core->phase == SL_PHASE_CATCHUP)
		sl_catchup_lost(core, peer); /* it has committed another round, and dropped requests */
	if (core->phase == SL_PHASE_DONE && !core->ended && sl_done_too_early(core)) {
		core->rounds = core->t;
		sl_move_to(core, SL_PHASE_TRAIN);
	}
	if (went_on(core, peer))
		sl_attempt_fail_by(core, peer, SL_REASON_COMMITTED, false);
}

static void digest(struct sl_core *core, uint32_t peer, const struct sl_message *message)
{
	sl_confirm_digest(core, peer, &message->digest);
	if (core->phase == SL_PHASE_CATCHUP) /* the last word on whether the peer is asked again */
		sl_catchup_digest(core, peer, &message->digest);
}

static void request(struct sl_core *core, uint32_t peer, const struct sl_message *message)
{
	if (message->request.origin != 0)
		sl_have_request(core, peer, &message->request);
	else
		sl_certificate_ask(core, peer, &message->request);
}

/* A chunk of a deposit: the owner's own, in SHARE, or the answer to a Request. */
static void deposit(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	if (core->phase == SL_PHASE_SHARE && memcmp(buffer->view, core->view.h, SL_HASH_BYTES) == 0)
		sl_share_deposit(core, peer, buffer);
	else
		sl_recover_chunk(core, peer, buffer);
}

/* The handler of each message: `control` of one without a chunk, `chunk` of one with a chunk, which the
 * handler takes over. */
static const struct {
	void (*control)(struct sl_core *core, uint32_t peer, const struct sl_message *message);
	void (*chunk)(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer);
} messages[SL_MESSAGE_KINDS] = {
	[SL_MSG_HELLO] = {.control = hello},
	[SL_MSG_LINK_STATE] = {.control = sl_flood_link_state},
	[SL_MSG_READY] = {.control = sl_flood_ready},
	[SL_MSG_DIGEST] = {.control = digest},
	[SL_MSG_REQUEST] = {.control = request},
	[SL_MSG_ABORT] = {.control = sl_flood_abort},
	[SL_MSG_HAVE] = {.control = sl_have_heard},
	[SL_MSG_MODEL] = {.control = sl_model_heard},
	[SL_MSG_KEY] = {.control = sl_open_key},
	[SL_MSG_OPENING] = {.control = sl_open_opening},
	[SL_MSG_CHALLENGE] = {.control = sl_check_challenge},
	[SL_MSG_CHECKSUM] = {.control = sl_check_checksum},
	[SL_MSG_ROUND] = {.control = sl_catchup_round},
	[SL_MSG_SHARE] = {.chunk = sl_share_chunk},
	[SL_MSG_STATE] = {.chunk = sl_mix_chunk},
	[SL_MSG_RESULT] = {.chunk = sl_catchup_chunk},
	[SL_MSG_DEPOSIT] = {.chunk = deposit},
	[SL_MSG_KEY_SHARE] = {.chunk = sl_share_chunk},
};

/* The common prologue of chunks: round and attempt; the handler looks at the view. */
static void chunk(struct sl_core *core, uint32_t peer, const struct sl_message *message,
		  struct sl_buffer *buffer)
{
	const struct sl_chunk *c = &message->chunk;
	bool late = c->t != core->t || c->a < core->a; /* of an attempt that ended here */
	buffer->t = c->t;
	buffer->index = c->index;
	buffer->iteration = c->iteration;
	memcpy(buffer->view, c->view, SL_HASH_BYTES);
	buffer->origin = c->origin;
	buffer->kind = message->kind;
	if (late && message->kind != SL_MSG_RESULT)
		sl_emit_drop(core, buffer);
	else
		messages[message->kind].chunk(core, peer, buffer);
}

static void message(struct sl_core *core, const struct sl_event *event)
{
	if (event->buffer != NULL)
		chunk(core, event->peer, event->message, event->buffer);
	else if (messages[event->message->kind].control != NULL)
		messages[event->message->kind].control(core, event->peer, event->message);
}

/* The handler of each job's result. NULL: nothing follows from it. */
static void (*const results[SL_JOB_KINDS])(struct sl_core *core, const struct sl_job_result *result) = {
	[SL_JOB_ANALYSE] = sl_agree_analysed,	[SL_JOB_ENCODE] = sl_share_encoded,
	[SL_JOB_SECRETS] = sl_share_secrets,	[SL_JOB_SHARE] = sl_share_made,
	[SL_JOB_EXPAND] = sl_share_made,	[SL_JOB_GATHER] = sl_share_gathered,
	[SL_JOB_DEPOSIT] = sl_share_deposited,	[SL_JOB_COMMITMENT] = sl_ready_commitment,
	[SL_JOB_MIX] = sl_mix_result,		[SL_JOB_CLOSE] = sl_check_closed,
	[SL_JOB_CHECKSUM] = sl_recover_verdict, [SL_JOB_CHECK] = sl_deposit_checked,
	[SL_JOB_SUM] = sl_recover_summed,	[SL_JOB_ABSORB] = sl_catchup_absorbed,
	[SL_JOB_ADOPT] = sl_catchup_adopted,
};

static void computed(struct sl_core *core, const struct sl_job_result *result)
{
	core->jobs--;
	if (core->jobs == 0 && core->wipe_due)
		sl_attempt_wipe(core);
	if (result->epoch == core->epoch && results[result->kind] != NULL)
		results[result->kind](core, result);
}

/* A record is on disk. The attempt that it was for may be over by now. */
static void durable(struct sl_core *core, const struct sl_durable *what)
{
	const struct sl_phase_row *row = &core->phases[core->phase];
	bool present = what->kind == SL_PERSIST_COMMIT || (what->t == core->t && what->a == core->a);
	if (what->kind == SL_PERSIST_ABORTED && what->t == core->t)
		sl_aborts_durable(core, what->says, what->a);
	else if (what->kind == SL_PERSIST_SIGNS && present)
		sl_confirm_signs(core);
	else if (row->durable != NULL && what->kind == row->record && present)
		row->durable(core);
}

/* Abort the open attempt (ROUND.md §9.5 Abort by the operator). */
static void operator_abort(struct sl_core *core)
{
	if (core->phase == SL_PHASE_READY)
		sl_attempt_fail(core, SL_REASON_OPERATOR_ABORT, false);
	else if (core->phase == SL_PHASE_RECOVER || core->phase == SL_PHASE_CONFIRM)
		core->at.operator_aborted = true;
	else
		sl_state_loss_clear(core);
}

/* End after the round `t`, unless the next one has begun without waiting for the own model. */
static void last_round(struct sl_core *core, sl_round t)
{
	if (t != core->committed || core->phase != SL_PHASE_TRAIN)
		return;
	core->rounds = t;
	core->ended = true;
	sl_move_to(core, SL_PHASE_DONE);
}

static void training_failed(struct sl_core *core)
{
	if (core->phase != SL_PHASE_TRAIN || core->failing)
		return;
	core->failing = true;
	sl_emit_hello(core, core->linked);
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
		core->parameters.hop_bytes = event->hop_bytes;
		sl_train_done(core, event->far);
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
	case SL_EVENT_LAST_ROUND:
		last_round(core, event->round);
		break;
	case SL_EVENT_TRAINING_FAILED:
		training_failed(core);
		break;
	case SL_EVENT_RANGE:
		sl_discover_range(core, event->range);
		break;
	case SL_EVENT_DEADLINE:
		break;
	}
}

/* Take every move that is due; `more`: those alone that do not wait for records of all. */
static void advance(struct sl_core *core, bool more)
{
	bool moved = true;
	while (moved && !core->stopped) {
		sl_aborts_pending(core);
		const struct sl_phase_row *row = &core->phases[core->phase];
		moved = row->advance != NULL && !(more && row->of_all) && row->advance(core);
	}
	if (!core->stopped && !more)
		sl_relay_pump(core);
}

static bool holds(const struct sl_core *core)
{
	const struct sl_phase_row *row = &core->phases[core->phase];
	return core->stopped ||
	       (core->t == core->committed + 1 && (row->invariant == NULL || row->invariant(core)));
}

/* Return true if the event carries what its kind needs and may come now. */
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
	case SL_EVENT_LAST_ROUND:
	case SL_EVENT_TRAINING_FAILED:
		return started;
	case SL_EVENT_OPERATOR_ABORT:
		return started && event->round == core->t &&
		       ((core->phase == SL_PHASE_READY && core->at.prepared) ||
			core->phase == SL_PHASE_RECOVER || core->phase == SL_PHASE_CONFIRM ||
			sl_core_abstains(core));
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
	core->step_used = 0;
	sl_relay_make_room(core);
	core->now = event->now;
	handle(core, event);
	advance(core, event->more);
	assert(holds(core));
	core->out = NULL;
	return SL_OK;
}

bool sl_core_wants(const struct sl_core *core, const struct sl_message *message)
{
	return message->kind != SL_MSG_DIGEST || sl_confirm_wants(core, &message->digest);
}

sl_ms sl_core_deadline(const struct sl_core *core)
{
	if (core->stopped)
		return SL_NEVER;
	if (core->flood_dirty)
		return core->now;
	const struct sl_phase_row *row = &core->phases[core->phase];
	sl_ms due = row->deadline == NULL ? SL_NEVER : row->deadline(core);
	return due < core->flood_again ? due : core->flood_again;
}

bool sl_core_ignores(const struct sl_core *core, uint32_t signer, sl_ms now)
{
	return signer != core->config.self && sl_allowance_spent(core, signer, now);
}
