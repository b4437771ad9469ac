/* Fetch a committed round from a peer that has it (PROTOCOL.md §11.2 The exchange).
 *
 *    this learner                       the peer
 *         | ---- Request t = 0 ----------> |
 *         | <--- Digest, Digest, ..------- |   signed by participants of the round: D, p, N
 *         | <--- Result, chunk 0 --------- |
 *         | ---- Request t, chunk 1 .. --> |   SL_WINDOW ahead
 *         | <--- Result, chunk 1 .. ------ |
 *
 * Z is accepted if c+1 learners signed its digest (§11.3 Certificates and signers); for an own released
 * attempt one is enough (§11.4 Attested results). The bytes of the view are not needed: signers sign h, D, p
 * and N together. */
#include "common/core/catchup.h"

#include "common/core/certificate.h"
#include "common/core/compatible.h"
#include "common/core/confirm.h"
#include "common/core/emit.h"
#include "common/core/members.h"
#include "common/core/move.h"
#include "common/core/relay.h"

#define FRUITLESS_MOST 4u /* the pause between requests grows to 2^3 times the stall timeout */

static void request(struct sl_core *core, sl_round t, uint32_t index)
{
	sl_emit_send(core, core->source,
		     &(struct sl_message){.kind = SL_MSG_REQUEST, .request = {.t = t, .index = index}}, true);
}

/* Tell all learners the own round: flood a link state without candidates. It uses up the attempt number. */
static void say_where(struct sl_core *core)
{
	memset(core->eligible, 0, sl_core_set_bytes(core));
	sl_relay_own_link_state(core, core->eligible);
	core->a += core->a < SL_ATTEMPTS_MAX;
}

uint32_t sl_catchup_source(const struct sl_core *core)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		const struct sl_peer *p = &core->peers[i];
		bool ahead = sl_bit(core->linked, i) && p->hello && p->t > core->t && p->quarantined == 0 &&
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
	if (core->before == SL_PHASE_DISCOVER)
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

/* Return true if all of Z is here: the peer is not needed any more. */
static bool whole(const struct sl_core *core)
{
	return core->catchup.in == core->catchup.chunks;
}

void sl_catchup_lost(struct sl_core *core, uint32_t peer)
{
	if (peer == core->catchup.from && !whole(core))
		in_vain(core);
}

void sl_catchup_digest(struct sl_core *core, uint32_t peer, const struct sl_digest *d)
{
	struct sl_certificate *certificate = &core->catchup.certificate;
	if (peer != core->catchup.from || d->t < core->t || d->t < certificate->t || whole(core))
		return;
	if (certificate->count > 0 && d->t > certificate->t) { /* without the Hello of a later round */
		sl_emit_reject(core, peer, "digests of a later round than its Hello named");
		give_up(core);
		return;
	}
	if (certificate->count == 0)
		sl_certificate_begin(certificate, d);
	if (!sl_certificate_agrees(certificate, d)) { /* an honest peer never shows both */
		sl_emit_reject(core, peer, "digests of one round that differ");
		give_up(core);
		return;
	}
	sl_certificate_add(certificate, d);
}

/* Fill as much of the view as the jobs need: the encoding and the length of the vector. Return false if p is
 * no field. */
static bool set_view(struct sl_core *core)
{
	const struct sl_certificate *certificate = &core->catchup.certificate;
	struct sl_view *view = &core->catchup.view;
	view->t = certificate->t;
	view->a = certificate->a;
	memcpy(view->h, certificate->view, SL_HASH_BYTES);
	view->n = certificate->learners;
	view->agreed = core->config.parameters;
	view->agreed.decimals = certificate->decimals; /* as agreed there, not as configured here */
	view->agreed.encoding = certificate->encoding;
	view->agreed.clipping_range = certificate->clipping_range;
	sl_view_set_encoding(view);
	if (certificate->learners > 0) /* the agreed max_weight is unknown: as large as p allows */
		view->max_weight = certificate->p / certificate->learners;
	return certificate->learners > 0 && sl_field_init(&view->field, certificate->p) == SL_OK;
}

static const char *check(struct sl_core *core, const struct sl_buffer *buffer)
{
	const struct sl_catchup *c = &core->catchup;
	if (c->certificate.count == 0 || buffer->t != c->certificate.t ||
	    memcmp(buffer->view, c->certificate.view, SL_HASH_BYTES) != 0)
		return "a result without a digest";
	if (c->certificate.count <= core->config.parameters.tolerance &&
	    memcmp(c->certificate.view, core->open_view, SL_HASH_BYTES) != 0)
		return "a result with digests of too few signers: c+1 are needed";
	if (buffer->index != c->in || buffer->index >= c->chunks)
		return "a chunk of a result out of order";
	if (buffer->index == 0 && !set_view(core))
		return "a result whose p is no prime";
	const struct sl_view *view = &core->catchup.view;
	if (buffer->size != sl_view_chunk_elements(view, buffer->index) * view->field.bytes)
		return "a chunk of a result of the wrong size";
	return NULL;
}

void sl_catchup_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	struct sl_catchup *c = &core->catchup;
	bool again = /* it was requested twice */ buffer->t == c->certificate.t && buffer->index < c->in;
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
		request(core, c->certificate.t, c->asked);
	if (whole(core))
		sl_emit_job_on(core, SL_JOB_ADOPT, 0, &c->view)->expected = c->certificate.digest;
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
	core->making = core->catchup.certificate;
	core->total_weight = result->total;
	sl_confirm_persist(core);
}

void sl_catchup_durable(struct sl_core *core)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_CAUGHT_UP);
	core->certificate = core->making;
	core->committed = core->certificate.t;
	memcpy(core->previous, core->certificate.digest, SL_HASH_BYTES);
	report->peer = core->catchup.from;
	report->caught_up.t = core->certificate.t;
	report->caught_up.learners = core->certificate.learners;
	report->caught_up.signers = core->certificate.count;
	memcpy(report->caught_up.digest, core->previous, SL_HASH_BYTES);
	core->peers[core->catchup.from].fruitless = 0;
	core->attested = memcmp(core->certificate.view, core->open_view, SL_HASH_BYTES) == 0;
	if (core->view_built && memcmp(core->certificate.view, core->view.h, SL_HASH_BYTES) == 0)
		sl_members_remember(core);
	core->took_part = false;
	if (core->attested)
		sl_certificate_attest(core, core->linked);
	memset(core->view_neighbours, 0, sl_core_set_bytes(core));
	sl_confirm_committed(core);
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
