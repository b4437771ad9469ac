/* One result for everybody, or none (protocol 8): digests, the commit, the end. */
#include "common/core/state.h"

#define MARGIN_LIMIT 0.375

static void digest_out(struct sl_core *core)
{
	struct sl_message message = {.kind = SL_MSG_DIGEST};
	message.digest.id = core->config.ids[core->config.self];
	message.digest.t = core->t;
	message.digest.a = core->a;
	memcpy(message.digest.key, core->config.key, SL_KEY_BYTES);
	memcpy(message.digest.view, core->view.h, SL_HASH_BYTES);
	memcpy(message.digest.digest, core->at.digest, SL_HASH_BYTES);
	message.digest.p = core->view.field.p;
	message.digest.learners = core->view.n;
	message.digest.decimals = (uint32_t)core->view.agreed.decimals;
	message.digest.encoding = (uint32_t)core->view.agreed.encoding;
	message.digest.clipping_range = core->view.agreed.clipping_range;
	sl_emit_send_neighbours(core, &message, true);
	sl_certificate_begin(&core->making, &message.digest);
	sl_certificate_add(&core->making, &message.digest);
}

/* The neighbours' word for it, as far as it is known and the same in all, beside the own: what others will
 * catch up with. */
static void complete_certificate(struct sl_core *core)
{
	struct sl_certificate *certificate = &core->making;
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (core->exchange[r].digest_known)
			sl_certificate_add(certificate, &core->exchange[r].digest);
}

/* Not the sum of N models: a bug or a lie, and summing it up again would not make it another one. */
static void refuse_result(struct sl_core *core)
{
	sl_emit_report(core, SL_REPORT_FAILED)->reason = SL_REASON_RESULT;
	sl_emit_stop(core, SL_ERR_INVALID);
}

void sl_confirm_result(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_attempt_state *at = &core->at;
	if (result->kind == SL_JOB_DECODE)
		return;
	if (result->kind == SL_JOB_CLOSE &&
	    result->real >= MARGIN_LIMIT) { /* beyond what the width rule proves */
		sl_attempt_fail(core, SL_REASON_MARGIN, false)->real = result->real;
		return;
	}
	if (result->code != SL_OK) {
		refuse_result(core);
		return;
	}
	at->result_known = true;
	core->since = core->now; /* the settle deadline is the neighbours', not our own arithmetic's */
	memcpy(at->digest, result->hash, SL_HASH_BYTES);
	core->total_weight = result->total;
	at->margin = result->real;
	digest_out(core);
}

static void diverged(struct sl_core *core, uint32_t peer, const uint8_t *ours, const uint8_t *theirs)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_DIVERGED);
	report->peer = peer;
	report->hash = ours;
	report->hash2 = theirs;
	sl_emit_stop(core, SL_ERR_REFUSED);
}

void sl_confirm_digest(struct sl_core *core, uint32_t peer, const struct sl_digest *digest)
{
	if (core->certificate.t != 0 && core->certificate.t == core->committed &&
	    memcmp(digest->view, core->certificate.view, SL_HASH_BYTES) == 0) {
		if (memcmp(digest->digest, core->previous, SL_HASH_BYTES) != 0)
			diverged(core, sl_core_index(core, digest->id), core->previous, digest->digest);
		sl_certificate_add(&core->certificate, digest);
		if (!core->stopped)
			sl_catchup_signed(core);
		return;
	}
	if (digest->t >= core->t && core->peers[peer].t > core->t)
		core->peers[peer].unshown = 0; /* it has more to show than when it was asked */
	if (digest->id != core->config.ids[peer]) {
		if (digest->t == core->t)
			sl_emit_reject(core, peer, "a digest signed by somebody else");
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
	sl_attempt_move(core, SL_PHASE_COMMIT);
	sl_emit_job(core, SL_JOB_DECODE, 0, NULL);
	complete_certificate(core);
	sl_confirm_persist(core);
	return true;
}

void sl_confirm_persist(struct sl_core *core)
{
	struct sl_persist *persist = sl_emit_persist(core, SL_PERSIST_COMMIT, core->making.a);
	persist->what.t = core->making.t; /* by catching up, it may be a later one */
	persist->certificate = &core->making;
	persist->total_weight = core->total_weight;
}

static void report_commit(struct sl_core *core)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_COMMITTED);
	report->n[0] = core->view.n;
	report->n[1] = core->view.graph.edges;
	report->n[2] = core->view.steps;
	report->engine = core->view.engine;
	report->n[3] = core->total_weight;
	report->real = core->at.margin;
	report->hash = core->previous;
	report->elapsed = core->now - core->trained_at;
}

/* The radio's list is spent with the round: where everybody is next, it has to say anew. Not by catching up,
 * which takes place within a step. */
static void spend_range(struct sl_core *core)
{
	if (!core->config.range_by_control)
		return;
	memset(core->range, 0, sl_core_set_bytes(core));
	core->have_range = false;
}

/* Who is in this sum and not in the last, or the other way round, shows in their difference (protocol 6):
 * inherent in aggregation, so it is said. */
static void report_privacy(struct sl_core *core)
{
	uint32_t came = 0, went = 0;
	memset(core->missing, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		bool now = core->view.position[i] != UINT32_MAX, then = sl_bit(core->members, i);
		came += now && !then;
		went += then && !now;
		if (now != then)
			sl_bit_set(core->missing, i);
	}
	if (came + went == 0 || came + went >= core->view.agreed.tolerance + 2)
		return;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_PRIVACY);
	report->set = core->missing;
	report->n[0] = came;
	report->n[1] = went;
}

static void remember_members(struct sl_core *core)
{
	if (core->members_known)
		report_privacy(core);
	memset(core->members, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->view.n; i++)
		sl_bit_set(core->members, core->view.members[i]);
	core->members_known = true;
}

void sl_confirm_committed(struct sl_core *core)
{
	sl_emit_drop_held(core);
	sl_emit(core, SL_ACTION_WIPE);
	core->epoch++;
	core->view_built = false;
	if (core->committed >= core->rounds) {
		sl_attempt_move(core, SL_PHASE_DONE);
		core->t = core->committed + 1;
		sl_emit_hello(core, core->linked);
		return;
	}
	sl_attempt_move(core, SL_PHASE_TRAIN);
	sl_attempt_begin_round(core);
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
	remember_members(core);
	spend_range(core);
	sl_confirm_committed(core);
}

/* Whether somebody may still come for the last round: linked, a neighbour in it or left out of it, and not
 * heard to be done. (Who was in it and no neighbour has neighbours of its own.) */
static bool awaits_result(const struct sl_core *core, uint32_t i)
{
	const struct sl_peer *p = &core->peers[i];
	if (sl_bit(core->linked, i))
		return !p->hello || p->status != SL_PEER_STATUS_DONE;
	bool had_it = core->members_known && sl_bit(core->members, i) && !sl_bit(core->view_neighbours, i);
	return i != core->config.self && !had_it && p->status != SL_PEER_STATUS_DONE;
}

/* Stays for those who still have the last round to commit or to catch up with, for the linger time at most.
 */
bool sl_confirm_done_advance(struct sl_core *core)
{
	bool waiting = false;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		waiting |= awaits_result(core, i);
	if (!waiting || core->now >= core->since + core->config.serve_after_end_ms)
		sl_emit_stop(core, SL_OK);
	return false;
}
