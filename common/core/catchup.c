/* Fetch a committed round from a peer that has it (ROUND.md §11.2 The exchange).
 *
 *    this learner                       the peer
 *         | ---- Request t = 0 ----------> |
 *         | <--- Round ------------------- |   what h is the hash of: p, the participants, ..
 *         | <--- Digest, Digest, ..------- |   signed by participants of the round: h, D
 *         | <--- Result, chunk 0 --------- |
 *         | ---- Request t, chunk 1 .. --> |   SL_WINDOW ahead
 *         | <--- Result, chunk 1 .. ------ |
 *
 * The model is accepted if enough participants signed its digest (§11.3 Certificates and signers): one of
 * them is honest, and has decoded it from a plausible sum. */
#include "common/core/catchup.h"

#include "common/core/certificate.h"
#include "common/core/compatible.h"
#include "common/core/confirm.h"
#include "common/core/emit.h"
#include "common/core/move.h"
#include "common/core/relay.h"

#define FRUITLESS_MOST 4u /* the pause between requests grows to 2^3 times the stall timeout */

static void request(struct sl_core *core, sl_round t, uint32_t index)
{
	sl_emit_send(core, core->source,
		     &(struct sl_message){.kind = SL_MSG_REQUEST, .request = {.t = t, .index = index}}, true);
}

/* Tell all learners the own round: flood a link state without candidates. It uses up the attempt number, and
 * others refuse attempts for want of this learner: so it begins one when it is back. */
static void say_where(struct sl_core *core)
{
	memset(core->eligible, 0, sl_core_set_bytes(core));
	sl_relay_own_link_state(core, core->eligible);
	core->a += core->a < SL_ATTEMPTS_MAX;
	if (core->not_before == SL_NEVER)
		core->not_before = core->now;
}

uint32_t sl_catchup_source(const struct sl_core *core)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		const struct sl_peer *p = &core->peers[i];
		bool ahead = sl_bit(core->linked, i) && p->hello && p->t > core->t &&
			     !sl_compatible_other_model(core, i);
		if (ahead && p->t > p->unshown && core->now >= p->ask_after)
			return i;
	}
	return SL_NOBODY;
}

bool sl_catchup_begin(struct sl_core *core)
{
	uint32_t from = core->jobs > 0 ? SL_NOBODY : sl_catchup_source(core); /* jobs use the workspace */
	if (from == SL_NOBODY)
		return false;
	core->catchup = (struct sl_catchup){.from = from,
					    .progress = core->now,
					    .chunks = sl_certificate_chunks(core),
					    .back = core->phase};
	memset(core->source, 0, sl_core_set_bytes(core));
	sl_bit_set(core->source, from);
	sl_move_to(core, SL_PHASE_CATCHUP);
	return true;
}

void sl_catchup_enter(struct sl_core *core)
{
	if (core->before == SL_PHASE_DISCOVER && !sl_core_abstains(core))
		say_where(core); /* in an attempt, the own link state has said so */
	request(core, 0, 0);
}

/* Go back to the phase before; an attempt that was interrupted goes on. */
static void leave(struct sl_core *core)
{
	core->epoch++; /* results of ABSORB jobs are late from here on */
	sl_move_to(core, core->catchup.back);
}

/* Leave CATCHUP without the result that the peer claims. Each such request doubles the pause before the next
 * one to this peer. */
static void in_vain(struct sl_core *core)
{
	struct sl_peer *p = &core->peers[core->catchup.from];
	if (p->fruitless > 0)
		p->ask_after = core->now + (core->config.stall_timeout_ms << (p->fruitless - 1));
	p->fruitless += p->fruitless < FRUITLESS_MOST;
	leave(core);
}

/* Request nothing more from the peer until it claims a later round or its link comes up again. */
static void give_up(struct sl_core *core)
{
	struct sl_peer *p = &core->peers[core->catchup.from];
	p->unshown = p->t;
	in_vain(core);
}

/* Return true if the whole model is here: the peer is not needed any more. */
static bool whole(const struct sl_core *core)
{
	return core->catchup.in == core->catchup.chunks;
}

void sl_catchup_lost(struct sl_core *core, uint32_t peer)
{
	if (peer == core->catchup.from && !whole(core))
		in_vain(core);
}

/* Stop: a result was committed that does not follow the own last one. */
static void forked(struct sl_core *core)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_DIVERGED);
	report->peer = core->catchup.from;
	memcpy(report->diverged.own, core->previous, SL_HASH_BYTES);
	memcpy(report->diverged.theirs, core->shown.head.previous, SL_HASH_BYTES);
	sl_emit_stop(core, SL_ERR_REFUSED);
}

/* Fill as much of the view as the jobs need. Return false if the Round is not of this model or p is no field.
 */
static bool set_view(struct sl_core *core, const struct sl_round_head *round, const uint8_t *h)
{
	struct sl_view *view = &core->catchup.view;
	view->t = round->t;
	view->a = round->a;
	memcpy(view->h, h, SL_HASH_BYTES);
	return round->parameters.n == core->config.parameters.n &&
	       sl_field_init(&view->field, round->p) == SL_OK;
}

/* Return NULL if the Round is acceptable, or why not. */
static const char *check_round(struct sl_core *core, const struct sl_round_head *round)
{
	uint8_t h[SL_HASH_BYTES];
	if (!sl_certificate_fits(core, round))
		return "a round with more participants than the roster can have had";
	sl_canonical_round(&core->config.scope, round, h);
	return set_view(core, round, h) ? NULL : "a round of another model, or whose p is no prime";
}

void sl_catchup_round(struct sl_core *core, uint32_t peer, const struct sl_message *message)
{
	const struct sl_round_head *round = &message->round_head;
	struct sl_catchup *c = &core->catchup;
	if (core->phase != SL_PHASE_CATCHUP || peer != c->from || c->signers > 0 || round->t < core->t)
		return;
	const char *wrong = check_round(core, round);
	if (wrong != NULL) {
		sl_emit_reject(core, peer, wrong);
		give_up(core);
		return;
	}
	sl_certificate_keep(&core->shown, round);
	c->signers = sl_certificate_need(core, round);
	c->progress = core->now;
}

void sl_catchup_digest(struct sl_core *core, uint32_t peer, const struct sl_digest *d)
{
	struct sl_catchup *c = &core->catchup;
	struct sl_certificate *shown = &core->shown.certificate;
	const struct sl_round_head *round = shown->round;
	if (peer != c->from || c->signers == 0 || whole(core) ||
	    memcmp(d->view, c->view.h, SL_HASH_BYTES) != 0 || !sl_round_member(round, d->id))
		return; /* of another round: it has committed again meanwhile, and its Hello says so */
	if (shown->count == 0)
		sl_certificate_begin(shown, d);
	if (!sl_certificate_agrees(shown, d)) { /* an honest peer never shows both */
		sl_emit_reject(core, peer, "digests of one round that differ");
		give_up(core);
		return;
	}
	sl_certificate_add(shown, d);
	bool next = round->t == core->committed + 1;
	if (next && shown->count >= c->signers && memcmp(round->previous, core->previous, SL_HASH_BYTES) != 0)
		forked(core);
}

static const char *check(struct sl_core *core, const struct sl_buffer *buffer)
{
	const struct sl_catchup *c = &core->catchup;
	const struct sl_certificate *shown = &core->shown.certificate;
	if (c->signers == 0 || shown->count == 0 || buffer->t != shown->t ||
	    memcmp(buffer->view, shown->view, SL_HASH_BYTES) != 0)
		return "a result without a digest";
	if (shown->count < c->signers)
		return "a result with the digests of too few participants";
	if (buffer->index != c->in || buffer->index >= c->chunks)
		return "a chunk of a result out of order";
	if (buffer->size != sl_certificate_chunk_bytes(core, buffer->index))
		return "a chunk of a result of the wrong size";
	return NULL;
}

void sl_catchup_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	struct sl_catchup *c = &core->catchup;
	sl_round shown = core->shown.certificate.t;
	bool again = /* it was requested twice */ buffer->t == shown && buffer->index < c->in;
	if (core->phase != SL_PHASE_CATCHUP || peer != c->from || again || whole(core)) {
		sl_emit_drop(core, buffer);
		return;
	}
	const char *wrong = check(core, buffer);
	if (wrong != NULL) {
		sl_emit_reject(core, peer, wrong);
		sl_emit_drop(core, buffer);
		give_up(core);
		return;
	}
	c->in++;
	c->asked = c->asked > c->in ? c->asked : c->in;
	c->progress = core->now;
	buffer->from = 0;
	buffer->next = NULL;
	sl_emit_job_on(core, SL_JOB_ABSORB, buffer->index, &c->view)->buffers = buffer;
	for (; c->asked < c->chunks && c->asked < c->in + SL_WINDOW; c->asked++)
		request(core, shown, c->asked);
	if (!whole(core))
		return;
	struct sl_job *adopt = sl_emit_job_on(core, SL_JOB_ADOPT, 0, &c->view);
	adopt->expected = core->shown.certificate.digest;
	adopt->round = core->shown.certificate.round;
}

/* Reject what the peer sent if the job found it not to be what was signed. */
static bool is_signed_for(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_catchup *c = &core->catchup;
	c->progress = core->now;
	if (result->code == SL_OK)
		return true;
	sl_emit_reject(core, c->from, "a result that is not what its signers signed");
	give_up(core);
	return false;
}

void sl_catchup_absorbed(struct sl_core *core, const struct sl_job_result *result)
{
	is_signed_for(core, result);
}

void sl_catchup_adopted(struct sl_core *core, const struct sl_job_result *result)
{
	if (!is_signed_for(core, result))
		return;
	sl_certificate_copy(&core->making, &core->shown.certificate);
	core->total_weight = core->making.head.total;
	sl_confirm_persist(core);
}

/* The round was committed without waiting for the peers that are still in it, or in one before. */
static void find_behind(struct sl_core *core, sl_round fetched)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		struct sl_peer *p = &core->peers[i];
		p->behind = p->hello && p->t <= fetched ? p->t : 0;
	}
}

void sl_catchup_durable(struct sl_core *core)
{
	const struct sl_certificate *made = &core->making.certificate;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_CAUGHT_UP);
	core->committed = made->t;
	memcpy(core->previous, made->digest, SL_HASH_BYTES);
	report->peer = core->catchup.from;
	report->caught_up.t = made->t;
	report->caught_up.learners = sl_round_learners(made->round);
	report->caught_up.signers = made->count;
	memcpy(report->caught_up.digest, core->previous, SL_HASH_BYTES);
	core->peers[core->catchup.from].fruitless = 0;
	core->took_part = false;
	find_behind(core, made->t);
	memset(core->view_neighbours, 0, sl_core_set_bytes(core));
	sl_confirm_committed(core);
}

enum sl_wait sl_catchup_awaits(const struct sl_core *core, uint64_t *set)
{
	if (core->jobs > 0)
		return SL_WAIT_ARITHMETIC;
	if (whole(core))
		return SL_WAIT_DISK;
	sl_bit_set(set, core->catchup.from);
	return SL_WAIT_RESULT;
}

bool sl_catchup_advance(struct sl_core *core)
{
	if (core->jobs > 0 || whole(core) ||
	    core->now < core->catchup.progress + core->config.stall_timeout_ms)
		return false;
	memset(core->missing, 0, sl_core_set_bytes(core));
	sl_bit_set(core->missing, core->catchup.from);
	sl_emit_report(core, SL_REPORT_WAITING)->set = core->missing;
	give_up(core);
	return true;
}

sl_ms sl_catchup_deadline(const struct sl_core *core)
{
	return core->jobs > 0 || whole(core) ? SL_NEVER
					     : core->catchup.progress + core->config.stall_timeout_ms;
}
