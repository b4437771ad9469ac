/* A committed round that went by without this learner, from a neighbour that has it (protocol 8, catch-up).
 *
 *    who is behind                      who has it
 *         | ---- Ask t = 0 --------------> |
 *         | <--- Digest, Digest, ..------- |   signed by participants of the round: what Z must hash to, p
 * and N | <--- Result, chunk 0 --------- | | ---- Ask t, chunk 1 .. ------> |   SL_WINDOW ahead | <---
 * Result, chunk 1 .. ------ |
 *
 * One honest signer is enough, so c+1 of them are asked for; with fewer, one liar could have made it all up,
 * and the learner stays where it is. Except for a view in which it released its own masked state: there it
 * knows of a result that somebody may hold alone, and sends its digest to all, so that two results would be
 * noticed. (Its word then rests on that one holder's.) The view's own bytes are not needed: its participants
 * sign h, D, p and N together. The model is decoded from Z, like everybody's. */
#include "common/core/state.h"

#define FRUITLESS_MOST 4u /* the pause is at most 2^3 times the stall deadline */

static uint32_t chunks_of(const struct sl_core *core)
{
	return (uint32_t)((core->config.parameters.n + SL_CHUNK_ELEMENTS) / SL_CHUNK_ELEMENTS);
}

/* --- who has it --- */

static bool is_own(const struct sl_core *core, const struct sl_digest *digest)
{
	return digest->id == core->config.ids[core->config.self];
}

static void show_digests(struct sl_core *core, const uint64_t *to, bool all)
{
	for (uint32_t i = 0; i < core->certificate.count; i++) {
		const struct sl_digest *digest = &core->certificate.digests[i];
		bool own = is_own(core, digest);
		if (all || own)
			sl_emit_send(core, to, &(struct sl_message){.kind = SL_MSG_DIGEST, .digest = *digest},
				     own);
	}
}

/* A participant's word for a result that it has from another: it is not among those who prove it, since it
 * rests on them. */
static void attest(struct sl_core *core, const uint64_t *to)
{
	struct sl_message message = {.kind = SL_MSG_DIGEST, .digest = core->certificate.digests[0]};
	message.digest.id = core->config.ids[core->config.self];
	memcpy(message.digest.key, core->config.key, SL_KEY_BYTES);
	sl_emit_send(core, to, &message, true);
}

/* To a link that comes up: a digest that was lost with the last one is missing in what its peer can show. */
void sl_catchup_greet(struct sl_core *core)
{
	show_digests(core, core->single, false);
	if (core->attested)
		attest(core, core->single);
}

static void show_chunk(struct sl_core *core, uint32_t index)
{
	struct sl_message message = {.kind = SL_MSG_RESULT};
	struct sl_field field;
	uint64_t elements = core->config.parameters.n + 1, first = (uint64_t)index * SL_CHUNK_ELEMENTS;
	uint64_t count = elements - first < SL_CHUNK_ELEMENTS ? elements - first : SL_CHUNK_ELEMENTS;
	if (index >= chunks_of(core) || sl_field_init(&field, core->certificate.p) != SL_OK)
		return;
	message.chunk.t = core->certificate.t;
	message.chunk.a = core->certificate.a;
	memcpy(message.chunk.view, core->certificate.view, SL_HASH_BYTES);
	message.chunk.index = index;
	message.chunk.size = (size_t)count * field.bytes;
	sl_emit_send(core, core->single, &message, true);
}

void sl_catchup_signed(struct sl_core *core)
{
	if (core->certificate.count <= core->config.parameters.tolerance)
		return;
	bool any = false;
	memset(core->signed_to, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		if (core->peers[i].few_shown)
			sl_bit_set(core->signed_to, i);
		any |= core->peers[i].few_shown;
		core->peers[i].few_shown = false;
	}
	if (any)
		show_digests(core, core->signed_to, true);
}

void sl_catchup_request(struct sl_core *core, uint32_t peer, const struct sl_request *request)
{
	if (core->certificate.t == 0)
		return; /* nothing to show */
	memset(core->single, 0, sl_core_set_bytes(core));
	sl_bit_set(core->single, peer);
	if (request->t != core->certificate.t) {
		show_digests(core, core->single, true);
		core->peers[peer].few_shown = core->certificate.count <= core->config.parameters.tolerance;
	}
	show_chunk(core, request->t == core->certificate.t ? request->index : 0);
}

/* --- who is behind --- */

static void request(struct sl_core *core, sl_round t, uint32_t index)
{
	sl_emit_send(core, core->source,
		     &(struct sl_message){.kind = SL_MSG_REQUEST, .request = {.t = t, .index = index}}, true);
}

/* Where this learner stands, for everybody: a link state without candidates. The attempt's number is used up
 * by it. */
static void say_where(struct sl_core *core)
{
	memset(core->eligible, 0, sl_core_set_bytes(core));
	sl_flood_own_link_state(core, core->eligible);
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
		.from = from, .progress = core->now, .chunks = chunks_of(core), .back = core->phase};
	memset(core->source, 0, sl_core_set_bytes(core));
	sl_bit_set(core->source, from);
	sl_attempt_move(core, SL_PHASE_CATCHUP);
	if (core->catchup.back == SL_PHASE_DISCOVER)
		say_where(core); /* in an attempt, its link state has said so */
	request(core, 0, 0);
	return true;
}

/* An attempt that was left for this goes on. */
static void leave(struct sl_core *core)
{
	core->epoch++; /* what is being absorbed is of no use */
	sl_attempt_move(core, core->catchup.back);
	core->at.edition += core->phase == SL_PHASE_RECOVER; /* who asked meanwhile got no answer */
	if (core->phase != SL_PHASE_DISCOVER)
		return;
	sl_emit(core, SL_ACTION_WIPE);
	sl_discover_enter(core);
}

/* What made a learner ask is one peer's word: where nothing comes of it, that peer is asked after ever longer
 * pauses. */
static void in_vain(struct sl_core *core)
{
	struct sl_peer *p = &core->peers[core->catchup.from];
	if (p->fruitless > 0)
		p->ask_after = core->now + (core->config.stall_timeout_ms << (p->fruitless - 1));
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

void sl_catchup_lost(struct sl_core *core)
{
	if (!whole(core))
		in_vain(core);
}

static bool agrees(const struct sl_certificate *certificate, const struct sl_digest *d)
{
	return certificate->t == d->t && certificate->a == d->a && certificate->p == d->p &&
	       certificate->learners == d->learners && certificate->decimals == d->decimals &&
	       certificate->encoding == d->encoding && certificate->clipping_range == d->clipping_range &&
	       memcmp(certificate->view, d->view, SL_HASH_BYTES) == 0 &&
	       memcmp(certificate->digest, d->digest, SL_HASH_BYTES) == 0;
}

void sl_certificate_add(struct sl_certificate *certificate, const struct sl_digest *d)
{
	if (!agrees(certificate, d) || certificate->count == SL_SIGNERS_MAX)
		return;
	for (uint32_t i = 0; i < certificate->count; i++)
		if (certificate->digests[i].id == d->id)
			return;
	certificate->digests[certificate->count++] = *d;
}

void sl_certificate_begin(struct sl_certificate *certificate, const struct sl_digest *d)
{
	*certificate = (struct sl_certificate){.t = d->t,
					       .a = d->a,
					       .p = d->p,
					       .learners = d->learners,
					       .decimals = d->decimals,
					       .encoding = d->encoding,
					       .clipping_range = d->clipping_range};
	memcpy(certificate->view, d->view, SL_HASH_BYTES);
	memcpy(certificate->digest, d->digest, SL_HASH_BYTES);
}

void sl_catchup_digest(struct sl_core *core, uint32_t peer, const struct sl_digest *d)
{
	struct sl_certificate *certificate = &core->catchup.certificate;
	if (peer != core->catchup.from || d->t < core->t || d->t < certificate->t || whole(core))
		return;
	if (certificate->count > 0 &&
	    d->t > certificate->t) { /* if it has committed a later one, its hello has said so before */
		sl_emit_reject(core, peer, "digests of a later round than it stands in");
		give_up(core);
		return;
	}
	if (certificate->count == 0)
		sl_certificate_begin(certificate, d);
	if (!agrees(certificate, d)) { /* nobody honest shows such: which of them lies cannot be told */
		sl_emit_reject(core, peer, "digests of one round that differ");
		give_up(core);
		return;
	}
	sl_certificate_add(certificate, d);
}

/* Enough of a view for the jobs: what the encoding takes, and how long the vector is. */
static bool set_view(struct sl_core *core)
{
	const struct sl_certificate *certificate = &core->catchup.certificate;
	struct sl_view *view = &core->catchup.view;
	view->t = certificate->t;
	view->a = certificate->a;
	memcpy(view->h, certificate->view, SL_HASH_BYTES);
	view->n = certificate->learners;
	view->agreed = core->config.parameters;
	view->agreed.decimals = certificate->decimals; /* it is their result, whatever is configured here */
	view->agreed.encoding = certificate->encoding;
	view->agreed.clipping_range = certificate->clipping_range;
	sl_view_set_encoding(view);
	if (certificate->learners > 0) /* they may have agreed on a larger one than is configured here; p is
					  above its sum (protocol 2) */
		view->max_weight = certificate->p / certificate->learners;
	return certificate->learners > 0 && sl_field_init(&view->field, certificate->p) == SL_OK;
}

static const char *check(struct sl_core *core, const struct sl_buffer *buffer, sl_round t)
{
	const struct sl_catchup *c = &core->catchup;
	if (c->certificate.count == 0 || t != c->certificate.t ||
	    memcmp(buffer->view, c->certificate.view, SL_HASH_BYTES) != 0)
		return "a result that nobody has signed for";
	if (c->certificate.count <= core->config.parameters.tolerance &&
	    memcmp(c->certificate.view, core->open_view, SL_HASH_BYTES) != 0)
		return "a result that too few have signed for: c+1 must, so that one of them is honest";
	if (buffer->index != c->in || buffer->index >= c->chunks)
		return "a chunk of a result out of order";
	if (buffer->index == 0 && !set_view(core))
		return "a result over no field";
	const struct sl_view *view = &core->catchup.view;
	if (buffer->size != sl_view_chunk_elements(view, buffer->index) * view->field.bytes)
		return "a chunk of a result of the wrong size";
	return NULL;
}

void sl_catchup_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer, sl_round t)
{
	struct sl_catchup *c = &core->catchup;
	bool again = t == c->certificate.t && buffer->index < c->in;
	if (core->phase != SL_PHASE_CATCHUP || peer != c->from || again ||
	    whole(core)) { /* or it was asked twice */
		sl_emit_drop(core, buffer);
		return;
	}
	const char *wrong = check(core, buffer, t);
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
		request(core, t, c->asked);
	if (whole(core))
		sl_emit_job_on(core, SL_JOB_ADOPT, 0, &c->view)->expected = c->certificate.digest;
}

void sl_catchup_result(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_catchup *c = &core->catchup;
	c->progress = core->now;
	if (result->kind == SL_JOB_ABSORB && result->code == SL_OK)
		return;
	if (result->code != SL_OK) {
		sl_emit_reject(core, c->from, "a result that is not what its signers signed");
		give_up(core);
		return;
	}
	core->making = c->certificate;
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
	report->n[0] = core->certificate.t;
	report->n[1] = core->certificate.learners;
	report->n[2] = core->certificate.count;
	report->hash = core->previous;
	core->peers[core->catchup.from].fruitless = 0;
	core->attested = memcmp(core->certificate.view, core->open_view, SL_HASH_BYTES) == 0;
	if (core->attested)
		attest(core, core->linked);
	core->members_known = false;
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
