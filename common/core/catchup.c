/* Fetch a committed round from a peer that has it (PROTOCOL.md §11.2 The exchange).
 *
 *    this learner                       the peer
 *         | ---- Request t = 0 ----------> |
 *         | <--- Digest, Digest, ..------- |   signed by participants of the round: D, p, N
 *         | <--- Result, chunk 0 --------- |
 *         | ---- Request t, chunk 1 .. --> |   SL_LANES ahead
 *         | <--- Result, chunk 1 .. ------ |
 *
 * Z is accepted if c+1 participants signed its digest: one of them is honest. Exception: for a view in which this learner
 * released its masked state, one signature is enough, since one participant may hold the result alone. The learner then
 * attests the result to all peers, so that two different results would be noticed (PROTOCOL.md §11.4 Attested results).
 * The bytes of the view are not needed: participants sign h, D, p and N together. The model is decoded from Z. */
#include "common/core/catchup.h"

#include "common/core/certificate.h"
#include "common/core/confirm.h"
#include "common/core/emit.h"
#include "common/core/move.h"
#include "common/core/relay.h"

#define FRUITLESS_MOST 4u /* the pause between requests grows to 2^3 times the stall timeout */

static void ask(struct sl_core *core, sl_round t, uint32_t index)
{
	sl_send(core, core->source, &(struct sl_message){.kind = SL_MSG_ASK, .ask = {.t = t, .index = index}}, true);
}

/* Tell all learners the own round: flood a link state without candidates. It uses up the attempt number. */
static void say_where(struct sl_core *core)
{
	memset(core->eligible, 0, sl_set_bytes(core));
	sl_relay_own_link_state(core, core->eligible);
	core->a += core->a < SL_ATTEMPTS_MAX;
}

uint32_t sl_catchup_source(const struct sl_core *core)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		const struct sl_peer *p = &core->peers[i];
		bool ahead = sl_bit(core->linked, i) && p->hello && p->t > core->t && p->quarantined == 0;
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
	core->catchup = (struct sl_catchup){
		.from = from, .progress = core->now, .chunks = sl_certificate_chunks(core), .back = core->phase};
	memset(core->source, 0, sl_set_bytes(core));
	sl_bit_set(core->source, from);
	sl_move(core, SL_PHASE_CATCHUP);
	return true;
}

void sl_catchup_enter(struct sl_core *core)
{
	if (core->before == SL_PHASE_DISCOVER)
		say_where(core); /* in an attempt, the own link state has said so */
	ask(core, 0, 0);
}

/* Go back to the phase before; an attempt that was interrupted goes on. */
static void leave(struct sl_core *core)
{
	core->epoch++; /* results of ABSORB jobs are late from here on */
	sl_move(core, core->catchup.back);
}

/* The peer did not show the round that it claims. Its claim is unproven, so each request in vain doubles the pause before the
 * next one to it. */
static void in_vain(struct sl_core *core)
{
	struct sl_peer *p = &core->peers[core->catchup.from];
	if (p->fruitless > 0)
		p->ask_after = core->now + (core->config.stall_ms << (p->fruitless - 1));
	p->fruitless += p->fruitless < FRUITLESS_MOST;
	leave(core);
}

/* Give up on the peer until it claims a later round or its link comes up anew. */
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
	struct sl_proof *proof = &core->catchup.proof;
	if (peer != core->catchup.from || d->t < core->t || d->t < proof->t || whole(core))
		return;
	if (proof->count > 0 && d->t > proof->t) { /* a peer that commits a later round says so in a Hello first */
		sl_reject(core, peer, "digests of a later round than it stands in");
		give_up(core);
		return;
	}
	if (proof->count == 0)
		sl_proof_begin(proof, d);
	if (!sl_proof_agrees(proof, d)) { /* an honest peer never shows both; which signer lied is unknown */
		sl_reject(core, peer, "digests of one round that differ");
		give_up(core);
		return;
	}
	sl_proof_add(proof, d);
}

/* Fill as much of the view as the jobs need: the encoding and the length of the vector. Return false if p is no field. */
static bool set_view(struct sl_core *core)
{
	const struct sl_proof *proof = &core->catchup.proof;
	struct sl_view *view = &core->catchup.view;
	view->t = proof->t;
	view->a = proof->a;
	memcpy(view->h, proof->view, SL_HASH_BYTES);
	view->n = proof->learners;
	view->agreed = core->config.parameters;
	view->agreed.sigma = proof->sigma; /* as the participants agreed, not as configured here */
	view->agreed.encoding = proof->encoding;
	view->agreed.clip = proof->clip;
	sl_view_set_encoding(view);
	if (proof->learners > 0) /* as large as p allows: the participants may have agreed on more than is configured here */
		view->max_weight = proof->p / proof->learners;
	return proof->learners > 0 && sl_field_init(&view->field, proof->p) == SL_OK;
}

static const char *check(struct sl_core *core, const struct sl_buffer *buffer)
{
	const struct sl_catchup *c = &core->catchup;
	if (c->proof.count == 0 || buffer->t != c->proof.t || memcmp(buffer->view, c->proof.view, SL_HASH_BYTES) != 0)
		return "a result that nobody has signed for";
	if (c->proof.count <= core->config.parameters.tolerance && memcmp(c->proof.view, core->open_view, SL_HASH_BYTES) != 0)
		return "a result that too few have signed for: c+1 must, so that one of them is honest";
	if (buffer->index != c->in || buffer->index >= c->chunks)
		return "a chunk of a result out of order";
	if (buffer->index == 0 && !set_view(core))
		return "a result over no field";
	const struct sl_view *view = &core->catchup.view;
	if (buffer->size != sl_chunk_elements(view, buffer->index) * view->field.bytes)
		return "a chunk of a result of the wrong size";
	return NULL;
}

void sl_catchup_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	struct sl_catchup *c = &core->catchup;
	bool again = buffer->t == c->proof.t && buffer->index < c->in;
	if (core->phase != SL_PHASE_CATCHUP || peer != c->from || again || whole(core)) { /* `again`: it was requested twice */
		sl_drop(core, buffer);
		return;
	}
	const char *wrong = check(core, buffer);
	if (wrong != NULL) {
		sl_reject(core, peer, wrong);
		sl_drop(core, buffer);
		give_up(core);
		return;
	}
	c->in++;
	c->asked = c->asked > c->in ? c->asked : c->in;
	c->progress = core->now;
	buffer->from = 0;
	buffer->next = NULL;
	sl_job_on(core, SL_JOB_ABSORB, buffer->index, &c->view)->buffers = buffer;
	for (; c->asked < c->chunks && c->asked < c->in + SL_LANES; c->asked++)
		ask(core, c->proof.t, c->asked);
	if (whole(core))
		sl_job_on(core, SL_JOB_ADOPT, 0, &c->view)->expected = c->proof.digest;
}

/* Reject what the peer sent if the job found it not to be what was signed. */
static bool is_signed_for(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_catchup *c = &core->catchup;
	c->progress = core->now;
	if (result->code == SL_OK)
		return true;
	sl_reject(core, c->from, "a result that is not what its signers signed");
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
	core->making = core->catchup.proof;
	core->total_weight = result->total;
	sl_persist_commit(core);
}

void sl_catchup_durable(struct sl_core *core)
{
	struct sl_report *report = sl_report(core, SL_REPORT_CAUGHT_UP);
	core->proof = core->making;
	core->committed = core->proof.t;
	memcpy(core->previous, core->proof.digest, SL_HASH_BYTES);
	report->peer = core->catchup.from;
	report->n[0] = core->proof.t;
	report->n[1] = core->proof.learners;
	report->n[2] = core->proof.count;
	report->hash = core->previous;
	core->peers[core->catchup.from].fruitless = 0;
	core->vouched = memcmp(core->proof.view, core->open_view, SL_HASH_BYTES) == 0;
	if (core->vouched)
		sl_certificate_attest(core, core->linked);
	core->members_known = false;
	memset(core->fellows, 0, sl_set_bytes(core));
	sl_committed(core);
}

bool sl_catchup_advance(struct sl_core *core)
{
	if (core->jobs > 0 || whole(core) || core->now < core->catchup.progress + core->config.stall_ms)
		return false;
	memset(core->awaited, 0, sl_set_bytes(core));
	sl_bit_set(core->awaited, core->catchup.from);
	sl_report(core, SL_REPORT_WAITING)->set = core->awaited;
	give_up(core);
	return true;
}

sl_ms sl_catchup_deadline(const struct sl_core *core)
{
	return core->jobs > 0 || whole(core) ? SL_NEVER : core->catchup.progress + core->config.stall_ms;
}
