/* A committed round that went by without this learner, from a neighbour that has it (protocol 8, catch-up).
 *
 *    who is behind                      who has it
 *         | ---- Ask t = 0 --------------> |
 *         | <--- Digest, Digest, ..------- |   signed by participants of the round: what Z must hash to, p and N
 *         | <--- Result, chunk 0 --------- |
 *         | ---- Ask t, chunk 1 .. ------> |   SL_LANES ahead
 *         | <--- Result, chunk 1 .. ------ |
 *
 * One honest signer is enough, so c+1 of them are asked for; with fewer, one liar could have made it all up, and the
 * learner stays where it is. Except for a view in which it released its own masked state: there it knows of a result that
 * somebody may hold alone, and sends its digest to all, so that two results would be noticed. (Its word then rests on that
 * one holder's.) The view's own bytes are not needed: its participants sign h, D, p and N together. The model is decoded
 * from Z, like everybody's. */
#include "common/core/catchup.h"

#include "common/core/certificate.h"
#include "common/core/confirm.h"
#include "common/core/emit.h"
#include "common/core/move.h"
#include "common/core/relay.h"

#define FRUITLESS_MOST 4u /* the pause is at most 2^3 times the stall deadline */

static void ask(struct sl_core *core, sl_round t, uint32_t index)
{
	sl_send(core, core->source, &(struct sl_message){.kind = SL_MSG_ASK, .ask = {.t = t, .index = index}}, true);
}

/* Where this learner stands, for everybody: a link state without candidates. The attempt's number is used up by it. */
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
	uint32_t from = core->jobs > 0 ? SL_NOBODY : sl_catchup_source(core); /* jobs use the vault */
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

/* An attempt that was left for this goes on. */
static void leave(struct sl_core *core)
{
	core->epoch++; /* what is being absorbed is of no use */
	sl_move(core, core->catchup.back);
}

/* What made a learner ask is one peer's word: where nothing comes of it, that peer is asked after ever longer pauses. */
static void in_vain(struct sl_core *core)
{
	struct sl_peer *p = &core->peers[core->catchup.from];
	if (p->fruitless > 0)
		p->ask_after = core->now + (core->config.stall_ms << (p->fruitless - 1));
	p->fruitless += p->fruitless < FRUITLESS_MOST;
	leave(core);
}

/* Back to looking for others; this one is not asked again before it is a round further or linked anew. */
static void give_up(struct sl_core *core)
{
	struct sl_peer *p = &core->peers[core->catchup.from];
	p->unshown = p->t;
	in_vain(core);
}

/* All of it is here: it is adopted or turns out to be wrong, whatever becomes of the neighbour. */
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
	if (proof->count > 0 && d->t > proof->t) { /* if it has committed a later one, its hello has said so before */
		sl_reject(core, peer, "digests of a later round than it stands in");
		give_up(core);
		return;
	}
	if (proof->count == 0)
		sl_proof_begin(proof, d);
	if (!sl_proof_agrees(proof, d)) { /* nobody honest shows such: which of them lies cannot be told */
		sl_reject(core, peer, "digests of one round that differ");
		give_up(core);
		return;
	}
	sl_proof_add(proof, d);
}

/* Enough of a view for the jobs: what the encoding takes, and how long the vector is. */
static bool set_view(struct sl_core *core)
{
	const struct sl_proof *proof = &core->catchup.proof;
	struct sl_view *view = &core->catchup.view;
	view->t = proof->t;
	view->a = proof->a;
	memcpy(view->h, proof->view, SL_HASH_BYTES);
	view->n = proof->learners;
	view->agreed = core->config.parameters;
	view->agreed.sigma = proof->sigma; /* it is their result, whatever is configured here */
	view->agreed.encoding = proof->encoding;
	view->agreed.clip = proof->clip;
	sl_view_set_encoding(view);
	if (proof->learners > 0) /* they may have agreed on a larger one than is configured here; p is above its sum (protocol 2) */
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
	if (core->phase != SL_PHASE_CATCHUP || peer != c->from || again || whole(core)) { /* or it was asked twice */
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
