#include "common/core/confirm.h"

#include "common/core/attempt.h"
#include "common/core/certificate.h"
#include "common/core/close.h"
#include "common/core/digests.h"
#include "common/core/emit.h"
#include "common/core/have.h"
#include "common/core/move.h"
#include "common/core/open.h"
#include "common/core/penalty.h"
#include "common/core/seen.h"

#define MARGIN_LIMIT 0.375

/* Return true if the participant at `position` has signed another result than this learner. */
static bool disagrees(const struct sl_core *core, uint32_t position)
{
	const struct sl_digest *digest = sl_digests_of(core, position);
	return digest != NULL && memcmp(digest->digest, core->at.digest, SL_HASH_BYTES) != 0;
}

enum sl_reason sl_confirm_flaw(const struct sl_core *core, const struct sl_job_result *result)
{
	bool weighted = core->view.encoding.kind == SL_ENCODING_WEIGHTED;
	if (result->code != SL_OK)
		return SL_REASON_RESULT;
	return weighted && result->total == 0 ? SL_REASON_WEIGHTLESS : SL_REASON_NONE;
}

static void differs(struct sl_core *core, uint32_t signer)
{
	sl_emit_reject(core, signer, "has signed another result of this view");
}

bool sl_confirm_take(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_attempt_state *at = &core->at;
	if (result->kind == SL_JOB_CLOSE && result->real >= MARGIN_LIMIT) {
		sl_attempt_fail(core, SL_REASON_MARGIN, false)->why.margin.distance = result->real;
		return false;
	}
	enum sl_reason flaw = sl_confirm_flaw(core, result);
	if (flaw != SL_REASON_NONE) { /* recovery finds the sum that the Readys fix */
		sl_attempt_fail(core, flaw, false)->why.result.learners = core->view.n;
		return false;
	}
	memcpy(at->digest, result->hash, SL_HASH_BYTES);
	at->agreeing = sl_digests_count(core, at->digest);
	memcpy(at->strands, result->strands, SL_STRANDS_BYTES);
	core->total_weight = result->total;
	at->margin = result->real;
	return true;
}

void sl_confirm_settle(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	at->result_known = true;
	core->since = core->now; /* the wait does not count the own arithmetic */
	for (uint32_t i = 0; i < core->view.n; i++)
		if (i != core->view.self && disagrees(core, i))
			differs(core, core->view.members[i]);
	bool mixed = core->before != SL_PHASE_RECOVER;
	if (mixed && at->joined != SL_NOBODY) /* it recovers, and nothing was missing */
		sl_penalty_failed(core, sl_emit_only(core, at->joined), SL_REASON_JOINED);
	at->signs = !at->digested;
	if (at->signs)
		sl_emit_persist(core, SL_PERSIST_SIGNS, core->view.a);
	else
		sl_digests_sign(core);
}

void sl_confirm_signs(struct sl_core *core)
{
	core->at.signs = false;
	core->at.digested = true;
	if (core->phase == SL_PHASE_CONFIRM && core->at.result_known)
		sl_digests_sign(core);
}

/* --- the digests of others --- */

static void diverged(struct sl_core *core, uint32_t peer, const uint8_t *ours, const uint8_t *theirs)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_DIVERGED);
	report->peer = peer;
	memcpy(report->diverged.own, ours, SL_HASH_BYTES);
	memcpy(report->diverged.theirs, theirs, SL_HASH_BYTES);
	sl_emit_stop(core, SL_ERR_REFUSED);
}

/* A participant of the last committed round has signed another result of it. So many as a commit needs show
 * that it was committed elsewhere. */
static void rival(struct sl_core *core, uint32_t signer, const struct sl_digest *digest)
{
	size_t words = sl_core_words(core);
	if (sl_bit_count(core->rivals, words) == 0)
		memcpy(core->rival, digest->digest, SL_HASH_BYTES);
	if (sl_bit(core->rivals, signer) || memcmp(core->rival, digest->digest, SL_HASH_BYTES) != 0)
		return;
	differs(core, signer);
	sl_bit_set(core->rivals, signer);
	if (sl_bit_count(core->rivals, words) >= sl_certificate_need(core, core->last.certificate.round))
		diverged(core, signer, core->previous, core->rival);
}

/* Take a digest of the last committed view. */
static void take_late(struct sl_core *core, const struct sl_digest *digest)
{
	struct sl_certificate *last = &core->last.certificate;
	uint32_t signer = sl_core_index(core, digest->id), need = sl_certificate_need(core, last->round);
	if (signer == UINT32_MAX || signer == core->config.self || !sl_round_member(last->round, digest->id))
		return;
	if (memcmp(digest->digest, core->previous, SL_HASH_BYTES) != 0) {
		rival(core, signer, digest);
		return;
	}
	bool few = last->count < need;
	sl_certificate_add(last, digest);
	if (few && last->count >= need)
		sl_certificate_sign(core, core->linked);
}

/* Return true if the digest is one of the last committed view. */
static bool is_late(const struct sl_core *core, const struct sl_digest *digest)
{
	const struct sl_certificate *last = &core->last.certificate;
	return last->t != 0 && last->t == core->committed &&
	       memcmp(digest->view, last->view, SL_HASH_BYTES) == 0;
}

static uint64_t digests_needed(const struct sl_core *core)
{
	const struct sl_parameters *agreed = &core->view.agreed;
	return sl_view_digests(core->view.n, agreed->tolerance, agreed->forgetful);
}

/* The linked participants get from here as many as a commit needs, which is enough for them, too. */
bool sl_confirm_wants(const struct sl_core *core, const struct sl_digest *digest)
{
	const struct sl_certificate *last = &core->last.certificate;
	if (is_late(core, digest))
		return memcmp(digest->digest, core->previous, SL_HASH_BYTES) != 0 ||
		       last->count < sl_certificate_need(core, last->round);
	bool same = core->view_checked && sl_core_in_view(core, digest->t, digest->view) &&
		    core->at.result_known && memcmp(digest->digest, core->at.digest, SL_HASH_BYTES) == 0;
	return !same || core->at.agreeing < digests_needed(core);
}

void sl_confirm_digest(struct sl_core *core, uint32_t peer, const struct sl_digest *digest)
{
	if (!sl_confirm_wants(core, digest))
		return;
	if (is_late(core, digest))
		take_late(core, digest);
	else if (sl_digests_take(core, peer, digest) && core->at.result_known &&
		 disagrees(core, core->view.position[sl_core_index(core, digest->id)]))
		differs(core, sl_core_index(core, digest->id));
	if (digest->t >= core->t && core->peers[peer].t > core->t)
		core->peers[peer].asked.unshown = 0; /* it can show more than when it was asked last */
}

/* Return true if participants commit another result: this learner then fetches it. */
static bool outvoted(const struct sl_core *core, uint64_t need)
{
	for (uint32_t i = 0; i < core->view.n; i++)
		if (disagrees(core, i) && sl_digests_count(core, sl_digests_of(core, i)->digest) >= need)
			return true;
	return false;
}

static void find_missing(const struct sl_core *core, uint64_t *set)
{
	memset(set, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->view.n; i++)
		if (sl_digests_of(core, i) == NULL)
			sl_bit_set(set, core->view.members[i]);
}

enum sl_wait sl_confirm_awaits(const struct sl_core *core, uint64_t *set)
{
	if (!core->at.result_known)
		return SL_WAIT_ARITHMETIC;
	if (core->at.signs)
		return SL_WAIT_DISK;
	find_missing(core, set);
	return SL_WAIT_DIGESTS;
}

/* Return a linked peer that has gone on to a later round, if digests of this one do not come any more, or
 * SL_NOBODY. */
static uint32_t gone_on(const struct sl_core *core, uint64_t need)
{
	if (core->now < core->since + core->config.stall_timeout_ms && !outvoted(core, need))
		return SL_NOBODY;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (sl_bit(core->linked, i) && core->peers[i].hello && core->peers[i].t > core->t)
			return i;
	return SL_NOBODY;
}

/* Return a linked participant that recovers and does not get what it lacks, or SL_NOBODY: it may reach others
 * through this learner alone, which then has to collect all, too. */
static uint32_t in_need(const struct sl_core *core)
{
	bool all = core->at.held_count == core->view.n && core->at.key_count == core->view.n;
	if (all || core->now < core->since + core->config.stall_timeout_ms)
		return SL_NOBODY;
	for (uint32_t i = 0; i < core->view.n; i++)
		if (core->at.holders[i].heard && sl_bit(core->linked, core->view.members[i]))
			return core->view.members[i];
	return SL_NOBODY;
}

bool sl_confirm_advance(struct sl_core *core)
{
	uint64_t need = digests_needed(core);
	if (!core->at.result_known || core->at.signs)
		return false;
	if (core->at.agreeing >= need) {
		sl_move_to(core, SL_PHASE_COMMIT);
		return true;
	}
	if (sl_close_attempt(core)) /* nobody can commit it any more */
		return true;
	uint32_t ahead = gone_on(core, need);
	if (ahead != SL_NOBODY) { /* catch up from there */
		sl_attempt_fail_by(core, ahead, SL_REASON_COMMITTED, false);
		return true;
	}
	uint32_t stuck = in_need(core);
	if (stuck != SL_NOBODY) {
		memset(core->missing, 0, sl_core_set_bytes(core));
		sl_attempt_fail(core, SL_REASON_JOINED, false)->peer = stuck;
		return true;
	}
	sl_have_serve(core);
	find_missing(core, core->missing);
	sl_emit_waiting(core, core->missing);
	return false;
}

sl_ms sl_confirm_deadline(const struct sl_core *core)
{
	sl_ms opens = sl_open_deadline(core), late = core->since + core->config.stall_timeout_ms;
	sl_ms due = core->report_at;
	if (!core->at.result_known || core->at.signs)
		return SL_NEVER; /* the result, or its record, is on the way */
	sl_ms closes = sl_close_deadline(core);
	due = opens < due ? opens : due;
	due = closes < due ? closes : due;
	due = sl_core_sooner(core, due, late);
	return due > core->now ? due : core->now + 1;
}

/* --- commit --- */

/* Make the certificate: the own digest, and so many equal digests of other participants as show the result.
 */
static void certify(struct sl_core *core)
{
	struct sl_certificate_store *making = &core->making;
	struct sl_certificate *certificate = &making->certificate;
	const struct sl_digest *own = sl_digests_of(core, core->view.self);
	(void)sl_view_round(&core->config.scope, core->at.view_bytes, core->at.view_size,
			    core->config.roster_size, making->members, &making->head);
	making->head.total = core->total_weight;
	memcpy(making->head.strands, core->at.strands, SL_STRANDS_BYTES);
	certificate->round = &making->head;
	sl_certificate_begin(certificate, own);
	sl_certificate_add(certificate, own);
	uint32_t need = sl_certificate_need(core, &making->head);
	for (uint32_t i = 0; i < core->view.n && certificate->count < need; i++)
		if (i != core->view.self && sl_digests_of(core, i) != NULL)
			sl_certificate_append(certificate, sl_digests_of(core, i));
}

void sl_confirm_commit_enter(struct sl_core *core)
{
	certify(core);
	sl_emit_job(core, SL_JOB_ACCEPT, 0, NULL);
	sl_confirm_persist(core);
}

void sl_confirm_persist(struct sl_core *core)
{
	const struct sl_certificate *made = &core->making.certificate;
	struct sl_persist *persist = sl_emit_persist(core, SL_PERSIST_COMMIT, made->a);
	persist->what.t = made->t; /* in CATCHUP, it may be later than round t */
	persist->certificate = made;
	persist->total_weight = core->total_weight;
	sl_seen_commit(core, made);
	persist->seen = core->sums;
}

static void report_commit(struct sl_core *core)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_COMMITTED);
	report->committed.learners = core->view.n;
	report->committed.edges = core->view.graph.edges;
	report->committed.exchanges = core->view.steps;
	report->committed.total_weight = core->total_weight;
	report->committed.values = core->view.encoding.values;
	report->committed.decimals = core->view.encoding.decimals;
	report->committed.update_bits = core->view.encoding.update_bits;
	report->committed.clipping_range = core->view.encoding.clipping_range;
	report->committed.engine = core->view.engine;
	report->committed.mu = core->view.mu;
	report->committed.margin = core->at.margin;
	report->committed.elapsed = core->now - core->trained_at;
	memcpy(report->committed.digest, core->previous, SL_HASH_BYTES);
}

/* With `neighbours: control`, forget the peers in range: each round needs a new list. After CATCHUP the list
 * stays. */
static void spend_range(struct sl_core *core)
{
	if (!core->config.range_by_control)
		return;
	memset(core->range, 0, sl_core_set_bytes(core));
	core->have_range = false;
}

static void remember_members(struct sl_core *core)
{
	memset(core->members, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->view.n; i++) {
		sl_bit_set(core->members, core->view.members[i]);
		sl_penalty_clear(core, core->view.members[i]);
	}
	core->took_part = true;
}

void sl_confirm_committed(struct sl_core *core)
{
	sl_certificate_copy(&core->last, &core->making.certificate);
	memset(core->rivals, 0, sl_core_set_bytes(core));
	sl_emit_drop_held(core);
	sl_emit(core, SL_ACTION_WIPE);
	core->epoch++;
	core->view_built = core->view_checked = false;
	sl_attempt_wipe(core);
	sl_move_to(core, core->committed >= core->rounds ? SL_PHASE_DONE : SL_PHASE_TRAIN);
}

void sl_confirm_durable(struct sl_core *core)
{
	core->committed = core->t;
	memcpy(core->previous, core->at.digest, SL_HASH_BYTES);
	report_commit(core);
	remember_members(core);
	spend_range(core);
	sl_confirm_committed(core);
}
