#include "common/core/confirm.h"

#include "common/core/attempt.h"
#include "common/core/certificate.h"
#include "common/core/emit.h"
#include "common/core/members.h"
#include "common/core/move.h"

#define MARGIN_LIMIT 0.375

static void digest_out(struct sl_core *core)
{
	struct sl_message message = {.kind = SL_MSG_DIGEST,
				     .digest = {.id = core->config.ids[core->config.self],
						.t = core->t,
						.a = core->a,
						.p = core->view.field.p,
						.learners = core->view.n,
						.decimals = (uint32_t)core->view.agreed.decimals,
						.encoding = (uint32_t)core->view.agreed.encoding,
						.clipping_range = core->view.agreed.clipping_range}};
	memcpy(message.digest.key, core->config.key, SL_KEY_BYTES);
	memcpy(message.digest.view, core->view.h, SL_HASH_BYTES);
	memcpy(message.digest.digest, core->at.digest, SL_HASH_BYTES);
	sl_emit_send(core, core->view_neighbours, &message, true);
	sl_certificate_begin(&core->making, &message.digest);
	sl_certificate_add(&core->making, &message.digest);
}

/* Add the digests of the neighbours to the certificate that learners will catch up with, as far as they are
 * known and agree. */
static void complete_certificate(struct sl_core *core)
{
	struct sl_certificate *certificate = &core->making;
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (core->exchange[r].digest_known)
			sl_certificate_add(certificate, &core->exchange[r].digest);
}

/* Stop: the result is not the sum of N models, since a learner violated the protocol or has a bug. Recovery
 * would give the same sum. */
static void refuse_result(struct sl_core *core)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_FAILED);
	report->reason = SL_REASON_RESULT;
	report->why.result.learners = core->view.n;
	sl_emit_stop(core, SL_ERR_INVALID);
}

bool sl_confirm_weightless(const struct sl_core *core, const struct sl_job_result *result)
{
	return core->view.encoding.kind == SL_ENCODING_WEIGHTED && result->code == SL_OK &&
	       result->total == 0;
}

void sl_confirm_result(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_attempt_state *at = &core->at;
	if (result->kind == SL_JOB_CLOSE && result->real >= MARGIN_LIMIT) {
		sl_attempt_fail(core, SL_REASON_MARGIN, false)->why.margin.distance = result->real;
		return;
	}
	if (result->code != SL_OK) {
		refuse_result(core);
		return;
	}
	if (sl_confirm_weightless(core, result)) {
		sl_attempt_fail(core, SL_REASON_WEIGHTLESS, false);
		return;
	}
	at->result_known = true;
	core->since = core->now; /* the confirm timeout does not count the own arithmetic */
	memcpy(at->digest, result->hash, SL_HASH_BYTES);
	core->total_weight = result->total;
	at->margin = result->real;
	digest_out(core);
}

static void diverged(struct sl_core *core, uint32_t peer, const uint8_t *ours, const uint8_t *theirs)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_DIVERGED);
	report->peer = peer;
	memcpy(report->diverged.own, ours, SL_HASH_BYTES);
	memcpy(report->diverged.theirs, theirs, SL_HASH_BYTES);
	sl_emit_stop(core, SL_ERR_REFUSED);
}

void sl_confirm_digest(struct sl_core *core, uint32_t peer, const struct sl_digest *digest)
{
	if (core->certificate.t != 0 && core->certificate.t == core->committed &&
	    memcmp(digest->view, core->certificate.view, SL_HASH_BYTES) == 0) {
		if (!sl_members_took_part(core, digest->id)) {
			if (core->members_of == core->committed)
				sl_emit_reject(core, peer,
					       "a digest of a learner that took no part in the round");
			return;
		}
		if (memcmp(digest->digest, core->previous, SL_HASH_BYTES) != 0)
			diverged(core, sl_core_index(core, digest->id), core->previous, digest->digest);
		sl_certificate_add(&core->certificate, digest);
		if (!core->stopped)
			sl_certificate_signed(core);
		return;
	}
	if (digest->t >= core->t && core->peers[peer].t > core->t)
		core->peers[peer].unshown = 0; /* it can show more than when it was asked last */
	if (digest->id != core->config.ids[peer]) {
		if (digest->t == core->t)
			sl_emit_reject(core, peer, "a digest signed by another learner");
		return;
	}
	if (!sl_core_released(core) || memcmp(digest->view, core->view.h, SL_HASH_BYTES) != 0)
		return;
	int r = sl_view_neighbour(&core->view, peer);
	if (r < 0)
		return;
	core->exchange[r].digest_known = true;
	core->exchange[r].digest = *digest;
	if (core->phase == SL_PHASE_COMMIT && memcmp(digest->digest, core->at.digest, SL_HASH_BYTES) != 0)
		diverged(core, peer, core->at.digest, core->exchange[r].digest.digest);
}

static bool confirmed(struct sl_core *core)
{
	bool all = true;
	memset(core->missing, 0, sl_core_set_bytes(core));
	for (uint32_t r = 0; r < core->view.degree; r++) {
		struct sl_exchange *exchange = &core->exchange[r];
		uint32_t peer = sl_view_peer(&core->view, r);
		if (!exchange->digest_known) {
			if (sl_bit(core->linked, peer)) {
				all = false;
				sl_bit_set(core->missing, peer);
			}
		} else if (memcmp(exchange->digest.digest, core->at.digest, SL_HASH_BYTES) != 0) {
			diverged(core, peer, core->at.digest, exchange->digest.digest);
			return false;
		}
	}
	return all;
}

bool sl_confirm_advance(struct sl_core *core)
{
	if (!core->at.result_known)
		return false;
	bool all = confirmed(core);
	if (core->stopped)
		return false;
	if (!all && core->now < core->since + core->config.confirm_timeout_ms)
		return false;
	if (!all)
		sl_emit_report(core, SL_REPORT_WAITING)->set = core->missing;
	sl_move_to(core, SL_PHASE_COMMIT);
	return true;
}

sl_ms sl_confirm_deadline(const struct sl_core *core)
{
	return core->at.result_known ? core->since + core->config.confirm_timeout_ms : SL_NEVER;
}

void sl_confirm_commit_enter(struct sl_core *core)
{
	sl_emit_job(core, SL_JOB_DECODE, 0, NULL);
	complete_certificate(core);
	sl_confirm_persist(core);
}

void sl_confirm_persist(struct sl_core *core)
{
	struct sl_persist *persist = sl_emit_persist(core, SL_PERSIST_COMMIT, core->making.a);
	persist->what.t = core->making.t; /* in CATCHUP, it may be later than round t */
	persist->certificate = &core->making;
	persist->total_weight = core->total_weight;
}

static void report_commit(struct sl_core *core)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_COMMITTED);
	report->committed.learners = core->view.n;
	report->committed.edges = core->view.graph.edges;
	report->committed.exchanges = core->view.steps;
	report->committed.total_weight = core->total_weight;
	report->committed.decimals = core->view.encoding.decimals;
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

void sl_confirm_committed(struct sl_core *core)
{
	sl_emit_drop_held(core);
	sl_emit(core, SL_ACTION_WIPE);
	core->epoch++;
	core->view_built = false;
	sl_move_to(core, core->committed >= core->rounds ? SL_PHASE_DONE : SL_PHASE_TRAIN);
}

void sl_confirm_durable(struct sl_core *core)
{
	core->committed = core->t;
	core->certificate = core->making;
	core->attested = false;
	memcpy(core->previous, core->at.digest, SL_HASH_BYTES);
	if (core->view.agreed.rounds > core->rounds)
		core->rounds = (sl_round)core->view.agreed.rounds;
	report_commit(core);
	sl_members_remember(core);
	core->took_part = true;
	spend_range(core);
	sl_confirm_committed(core);
}
