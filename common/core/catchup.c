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
 * A second peer is asked for the Round and the Digests alone, and then for chunks from the last one on.
 *
 * The model is accepted if enough participants signed its digest (§11.3 Certificates and signers): one of
 * them is honest, and has decoded it from a plausible sum. */
#include "common/core/catchup.h"

#include "common/core/certificate.h"
#include "common/core/compatible.h"
#include "common/core/confirm.h"
#include "common/core/emit.h"
#include "common/core/move.h"
#include "common/core/penalty.h"
#include "common/core/relay.h"

#define FRUITLESS_MOST 4u /* the pause between requests grows to 2^3 times the stall timeout */
#define SOURCES 2u
#define PATIENCE 8u /* this part of stall_timeout may pass without a chunk .. */
#define PACE 4u	    /* .. or this many times as long as the chunks so far took */
#define SLOWER 2u   /* a source is heeded if it has brought this part of what the other one has */

static void request(struct sl_core *core, uint32_t peer, sl_round t, uint32_t index)
{
	sl_emit_send(core, sl_emit_only(core, peer),
		     &(struct sl_message){.kind = SL_MSG_REQUEST, .request = {.t = t, .index = index}}, true);
}

/* The signers show that the round is over. Tell all learners the own one: flood a link state without
 * candidates. It uses up the attempt number, and others refuse attempts for want of this learner: so it
 * begins one when it is back. In an attempt, the own link state has said so. */
static void say_where(struct sl_core *core)
{
	if (core->catchup.back != SL_PHASE_DISCOVER || sl_core_abstains(core))
		return;
	memset(core->eligible, 0, sl_core_set_bytes(core));
	sl_relay_own_link_state(core, core->eligible);
	core->a += core->a < SL_ATTEMPTS_MAX;
	if (core->not_before == SL_NEVER)
		core->not_before = core->now;
}

/* --- sources --- */

/* Return the source that `peer` is, or SOURCES. */
static uint32_t source_of(const struct sl_core *core, uint32_t peer)
{
	uint32_t s = 0;
	while (s < SOURCES && core->catchup.sources[s].peer != peer)
		s++;
	return core->phase == SL_PHASE_CATCHUP ? s : SOURCES;
}

/* Return true if peer `i` may have the round that is shown, or none is. */
static bool can_show(const struct sl_core *core, uint32_t i)
{
	bool any = core->phase != SL_PHASE_CATCHUP || core->catchup.signers == 0;
	return any || core->peers[i].t == core->shown.head.t + 1;
}

/* The one that brought the last result is the first to be asked. */
uint32_t sl_catchup_source(const struct sl_core *core)
{
	uint32_t best = core->catchup.sources[core->catchup.brings].peer, R = core->config.roster_size;
	for (uint32_t k = 0; k < R; k++) {
		uint32_t i = (k + (best < R ? best : 0)) % R;
		const struct sl_peer *p = &core->peers[i];
		bool ahead = sl_bit(core->linked, i) && p->hello && p->t > core->t &&
			     !sl_compatible_other_model(core, i);
		if (ahead && p->t > p->asked.unshown && core->now >= p->asked.after &&
		    source_of(core, i) == SOURCES && can_show(core, i))
			return i;
	}
	return SL_NOBODY;
}

bool sl_catchup_over(const struct sl_core *core)
{
	uint64_t later = 0;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		const struct sl_link_record *lr = &core->links[i];
		bool says = sl_bit(core->linked, i) && core->peers[i].hello && core->peers[i].t > core->t;
		later += says || (i != core->config.self && lr->record.present && lr->state.t > core->t);
	}
	return later > core->config.parameters.tolerance;
}

static uint32_t chunks_in(const struct sl_catchup *c)
{
	return c->sources[0].in + c->sources[1].in;
}

/* Return the index of chunk `k` from the end at which source `s` begins. */
static uint32_t index_of(const struct sl_catchup *c, uint32_t s, uint32_t k)
{
	return s == 0 ? k : c->chunks - 1 - k;
}

/* Forget the Round that is shown, and its chunks. */
static void forget_round(struct sl_core *core)
{
	struct sl_catchup *c = &core->catchup;
	c->signers = 0;
	for (uint32_t s = 0; s < SOURCES; s++)
		c->sources[s].in = c->sources[s].asked = 0;
	c->shows = SOURCES;
	c->mixed = false;
}

/* Return true if a Round is here, with the digests of enough signers. */
static bool is_shown(const struct sl_core *core)
{
	return core->catchup.signers > 0 && core->shown.certificate.count >= core->catchup.signers;
}

/* Return the number of chunks that source `s` may bring: not what the other one has brought, nor what it is
 * asked for, unless it is silent, or slower by far, or has another round. */
static uint32_t part_of(const struct sl_core *core, uint32_t s)
{
	const struct sl_catchup *c = &core->catchup;
	const struct sl_supplier *source = &c->sources[s], *other = &c->sources[1 - s];
	bool heeded =
		other->ahead > 0 && can_show(core, other->peer) && SLOWER * (other->in + 1) >= source->in;
	return c->chunks - (heeded ? other->asked : other->in);
}

/* Ask source `s` for the Round, or for the chunks that are due. The second one shows the Round alone. */
static void ask(struct sl_core *core, uint32_t s)
{
	struct sl_catchup *c = &core->catchup;
	struct sl_supplier *source = &c->sources[s];
	if (source->peer == SL_NOBODY ||
	    (c->signers > 0 && !(is_shown(core) && can_show(core, source->peer))))
		return;
	if (c->signers == 0) {
		request(core, source->peer, 0, s);
		source->asked = 1 - s;
		return;
	}
	uint32_t part = part_of(core, s), ahead = source->in + (source->ahead > 0 ? source->ahead : 1);
	source->asked = source->asked > source->in ? source->asked : source->in;
	for (; source->asked < part && source->asked < ahead; source->asked++)
		request(core, source->peer, core->shown.head.t, index_of(c, s, source->asked));
}

/* Return true if source `s` has shown a Round, and too few digests. */
static bool owes_digests(const struct sl_core *core, uint32_t s)
{
	return core->catchup.shows == s && core->catchup.signers > 0 && !is_shown(core);
}

static void set_patience(struct sl_core *core)
{
	struct sl_catchup *c = &core->catchup;
	sl_ms least = core->config.stall_timeout_ms / PATIENCE, pace = core->now - c->began;
	pace = chunks_in(c) > 0 ? PACE * pace / chunks_in(c) : pace;
	if (c->look_again != SL_NEVER)
		c->look_again = core->now + (pace > least ? pace : least);
}

/* Find a peer that may bring something as source `s`. */
static void find(struct sl_core *core, uint32_t s)
{
	struct sl_catchup *c = &core->catchup;
	struct sl_supplier *source = &c->sources[s];
	uint32_t peer = sl_catchup_source(core);
	if (peer == SL_NOBODY)
		return;
	if (c->shows == s)
		c->shows = SOURCES;
	source->peer = peer;
	source->asked = source->in;
	source->ahead = 0;
	ask(core, s);
}

bool sl_catchup_begin(struct sl_core *core)
{
	struct sl_catchup *c = &core->catchup;
	uint32_t from = core->jobs > 0 ? SL_NOBODY : sl_catchup_source(core); /* jobs use the workspace */
	if (from == SL_NOBODY)
		return false;
	*c = (struct sl_catchup){.sources = {{.peer = from}, {.peer = SL_NOBODY}},
				 .began = core->now,
				 .progress = core->now,
				 .ends = SL_NEVER,
				 .chunks = sl_certificate_chunks(core),
				 .back = core->phase};
	sl_move_to(core, SL_PHASE_CATCHUP);
	return true;
}

void sl_catchup_enter(struct sl_core *core)
{
	set_patience(core);
	ask(core, 0);
}

/* Go back to the phase before; an attempt that was interrupted goes on. */
static void leave(struct sl_core *core)
{
	core->epoch++; /* results of ABSORB jobs are late from here on */
	sl_move_to(core, core->catchup.back);
}

/* Source `s` did not show what it claims. Each such request doubles the pause before the next one to it. */
static void drop(struct sl_core *core, uint32_t s)
{
	struct sl_peer *p = &core->peers[core->catchup.sources[s].peer];
	if (p->asked.fruitless > 0)
		p->asked.after = core->now + (core->config.stall_timeout_ms << (p->asked.fruitless - 1));
	p->asked.fruitless += p->asked.fruitless < FRUITLESS_MOST;
	core->catchup.sources[s].peer = SL_NOBODY;
	core->catchup.sources[s].ahead = 0;
}

/* Go on without source `s`. Without another one, leave CATCHUP. */
static void in_vain(struct sl_core *core, uint32_t s)
{
	struct sl_catchup *c = &core->catchup;
	uint32_t other = c->sources[1 - s].peer;
	drop(core, s);
	if (other == SL_NOBODY) {
		leave(core);
		return;
	}
	if ((c->shows == s && chunks_in(c) == 0) || !can_show(core, other))
		forget_round(core);
	c->mixed |= chunks_in(c) > 0;
	c->brings = 1 - s;
	ask(core, 1 - s);
}

/* Request nothing more from source `s` until it claims a later round or its link comes up again. */
static void disown(struct sl_core *core, uint32_t s)
{
	struct sl_peer *p = &core->peers[core->catchup.sources[s].peer];
	p->asked.unshown = p->t;
}

static void drop_source(struct sl_core *core, uint32_t s)
{
	disown(core, s);
	in_vain(core, s);
}

/* Return true if the whole model is here: the peers are not needed any more. */
static bool whole(const struct sl_core *core)
{
	return chunks_in(&core->catchup) == core->catchup.chunks;
}

void sl_catchup_lost(struct sl_core *core, uint32_t peer)
{
	uint32_t s = source_of(core, peer);
	if (s < SOURCES && !whole(core))
		in_vain(core, s);
}

/* Stop: a result was committed that does not follow the own last one. */
static void forked(struct sl_core *core)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_DIVERGED);
	report->peer = core->catchup.sources[core->catchup.shows].peer;
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
	return round->n == core->config.parameters.n && sl_field_init(&view->field, round->p) == SL_OK;
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
	uint32_t s = source_of(core, peer);
	if (s == SOURCES || round->t < core->t)
		return;
	core->peers[peer].asked.shown = round->t;
	c->sources[s].ahead += c->sources[s].ahead == 0;
	if (c->signers > 0)
		return; /* with two sources, the first Round counts */
	const char *wrong = check_round(core, round);
	if (wrong != NULL) {
		sl_emit_reject(core, peer, wrong);
		drop_source(core, s);
		return;
	}
	sl_certificate_keep(&core->shown, round);
	c->signers = sl_certificate_need(core, round);
	c->progress = core->now;
	c->shows = s;
}

void sl_catchup_digest(struct sl_core *core, uint32_t peer, const struct sl_digest *d)
{
	struct sl_catchup *c = &core->catchup;
	struct sl_certificate *shown = &core->shown.certificate;
	const struct sl_round_head *round = shown->round;
	uint32_t s = source_of(core, peer);
	if (s == SOURCES || s != c->shows || c->signers == 0 || whole(core) ||
	    memcmp(d->view, c->view.h, SL_HASH_BYTES) != 0 || !sl_round_member(round, d->id))
		return; /* of another round: it has committed again meanwhile, and its Hello says so */
	if (shown->count == 0)
		sl_certificate_begin(shown, d);
	if (!sl_certificate_agrees(shown, d)) { /* an honest peer never shows both */
		sl_emit_reject(core, peer, "digests of one round that differ");
		drop_source(core, s);
		return;
	}
	bool shown_before = is_shown(core);
	sl_certificate_add(shown, d);
	if (!shown_before && is_shown(core)) {
		core->peers[peer].asked.fruitless = 0;
		say_where(core);
		ask(core, 0);
		ask(core, 1);
	}
	bool next = round->t == core->committed + 1;
	if (next && is_shown(core) && memcmp(round->previous, core->previous, SL_HASH_BYTES) != 0)
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
	if (buffer->index >= c->chunks)
		return "a chunk of a result that has fewer";
	if (buffer->size != sl_certificate_chunk_bytes(core, buffer->index))
		return "a chunk of a result of the wrong size";
	return NULL;
}

/* Return true if a chunk is of no use, and says nothing of its sender: it is not the one that is due, or the
 * other source has shown another Round, or no digests yet, or its sender has committed again since it showed
 * the round: the Hello overtakes chunks. */
static bool is_spare(const struct sl_core *core, uint32_t s, const struct sl_buffer *buffer)
{
	const struct sl_catchup *c = &core->catchup;
	const struct sl_peer *p = &core->peers[c->sources[s].peer];
	if (buffer->t <= p->asked.shown && buffer->t + 1 < p->t)
		return true;
	const struct sl_certificate *shown = &core->shown.certificate;
	bool other = shown->count < c->signers || c->signers == 0 || buffer->t != shown->t ||
		     memcmp(buffer->view, shown->view, SL_HASH_BYTES) != 0;
	bool due = buffer->index >= c->chunks || buffer->index == index_of(c, s, c->sources[s].in);
	return other ? s != c->shows : !due;
}

static void absorb(struct sl_core *core, struct sl_buffer *buffer)
{
	struct sl_catchup *c = &core->catchup;
	buffer->from = 0;
	buffer->next = NULL;
	sl_emit_job_on(core, SL_JOB_ABSORB, buffer->index, &c->view)->buffers = buffer;
}

void sl_catchup_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	struct sl_catchup *c = &core->catchup;
	uint32_t s = source_of(core, peer);
	if (s == SOURCES || whole(core) || is_spare(core, s, buffer)) {
		if (s < SOURCES && s != c->shows && !is_shown(core))
			c->sources[s].asked = 0; /* it is asked for this chunk again */
		sl_emit_drop(core, buffer);
		return;
	}
	const char *wrong = check(core, buffer);
	if (wrong != NULL) {
		sl_emit_reject(core, peer, wrong);
		sl_emit_drop(core, buffer);
		drop_source(core, s);
		return;
	}
	c->mixed |= chunks_in(c) > 0 && s != c->brings;
	c->brings = s;
	c->sources[s].in++;
	c->sources[s].ahead = SL_WINDOW;
	c->progress = core->now;
	set_patience(core);
	absorb(core, buffer);
	ask(core, s);
	if (!whole(core))
		return;
	struct sl_job *adopt = sl_emit_job_on(core, SL_JOB_ADOPT, 0, &c->view);
	adopt->expected = core->shown.certificate.digest;
	adopt->round = core->shown.certificate.round;
}

/* Reject what the peer sent if the job found it not to be what was signed. If several have sent it, ask the
 * one that has brought more of it alone, the Round included: it may take about as long as both. */
static bool is_signed_for(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_catchup *c = &core->catchup;
	c->progress = core->now;
	if (result->code == SL_OK)
		return true;
	bool one = !c->mixed && c->shows == c->brings;
	bool more = c->sources[1 - c->brings].in > c->sources[c->brings].in;
	core->epoch++; /* results of other ABSORB jobs are late */
	forget_round(core);
	if (one) {
		sl_emit_reject(core, c->sources[c->brings].peer,
			       "a result that is not what its signers signed");
		drop_source(core, c->brings);
		return false;
	}
	if (more && c->sources[1 - c->brings].peer != SL_NOBODY)
		c->brings = 1 - c->brings;
	c->sources[1 - c->brings] = (struct sl_supplier){.peer = SL_NOBODY};
	c->look_again = SL_NEVER;
	c->ends = core->now + core->config.stall_timeout_ms + PACE * (core->now - c->began);
	ask(core, c->brings);
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

void sl_catchup_durable(struct sl_core *core)
{
	const struct sl_certificate *made = &core->making.certificate;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_CAUGHT_UP);
	core->committed = core->fetched = made->t;
	memcpy(core->previous, made->digest, SL_HASH_BYTES);
	report->peer = core->catchup.sources[core->catchup.brings].peer;
	report->caught_up.t = made->t;
	report->caught_up.learners = sl_round_learners(made->round);
	report->caught_up.signers = made->count;
	memcpy(report->caught_up.digest, core->previous, SL_HASH_BYTES);
	core->took_part = false;
	memset(core->view_neighbours, 0, sl_core_set_bytes(core));
	sl_confirm_committed(core);
}

static void add_sources(const struct sl_core *core, uint64_t *set)
{
	for (uint32_t s = 0; s < SOURCES; s++)
		if (core->catchup.sources[s].peer != SL_NOBODY)
			sl_bit_set(set, core->catchup.sources[s].peer);
}

/* Return true if others begin an attempt of the own round, which nothing shows to be over: a Hello alone
 * keeps this learner out of no view. */
static bool goes_on(const struct sl_core *core)
{
	return core->catchup.back == SL_PHASE_DISCOVER && !is_shown(core) && !sl_core_abstains(core) &&
	       sl_penalty_others_begin(core, core->catchup.began + 1);
}

/* Take part in it, without waiting for the sources; they are asked again later. */
static void put_off(struct sl_core *core)
{
	for (uint32_t s = 0; s < SOURCES; s++) {
		uint32_t peer = core->catchup.sources[s].peer;
		if (peer == SL_NOBODY)
			continue;
		core->peers[peer].asked.behind = core->peers[peer].t;
		core->peers[peer].asked.after = core->now + core->config.stall_timeout_ms;
		drop(core, s);
	}
	leave(core);
}

enum sl_wait sl_catchup_awaits(const struct sl_core *core, uint64_t *set)
{
	if (core->jobs > 0)
		return SL_WAIT_ARITHMETIC;
	if (whole(core))
		return SL_WAIT_DISK;
	add_sources(core, set);
	return SL_WAIT_RESULT;
}

/* Find a second source, in place of one that was silent since this was looked at last. Ask both for what the
 * other one does not bring. */
static void look_again(struct sl_core *core)
{
	struct sl_catchup *c = &core->catchup;
	uint32_t s = 1 - c->brings;
	bool silent = c->sources[s].ahead == 0;
	set_patience(core);
	c->sources[0].ahead = c->sources[1].ahead = 0;
	if (c->shows < SOURCES && owes_digests(core, c->shows) && c->sources[1 - c->shows].peer != SL_NOBODY)
		in_vain(core, c->shows);
	else if (silent)
		find(core, s);
	if (!is_shown(core))
		return;
	ask(core, 0);
	ask(core, 1);
}

static sl_ms fails_at(const struct sl_core *core)
{
	sl_ms stalls = core->catchup.progress + core->config.stall_timeout_ms;
	return stalls < core->catchup.ends ? stalls : core->catchup.ends;
}

bool sl_catchup_advance(struct sl_core *core)
{
	struct sl_catchup *c = &core->catchup;
	if (core->jobs > 0 || whole(core))
		return false;
	if (goes_on(core)) {
		put_off(core);
		return true;
	}
	if (core->now < fails_at(core)) {
		for (uint32_t s = 0; s < SOURCES && c->look_again != SL_NEVER; s++)
			if (c->sources[s].peer == SL_NOBODY)
				find(core, s);
		if (core->now >= c->look_again)
			look_again(core);
		return false;
	}
	memset(core->failed, 0, sl_core_set_bytes(core));
	add_sources(core, core->failed);
	sl_emit_report(core, SL_REPORT_WAITING)->set = core->failed; /* DISCOVER writes to `missing` */
	for (uint32_t s = 0; s < SOURCES; s++)
		if (c->sources[s].peer != SL_NOBODY) {
			disown(core, s);
			drop(core, s);
		}
	leave(core);
	return true;
}

sl_ms sl_catchup_deadline(const struct sl_core *core)
{
	const struct sl_catchup *c = &core->catchup;
	if (core->jobs > 0 || whole(core))
		return SL_NEVER;
	return c->look_again < fails_at(core) ? c->look_again : fails_at(core);
}
