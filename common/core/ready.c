#include "common/core/ready.h"

#include "common/core/attempt.h"
#include "common/core/catchup.h"
#include "common/core/emit.h"
#include "common/core/move.h"
#include "common/core/relay.h"
#include "common/core/releases.h"

void sl_ready_enter(struct sl_core *core)
{
	if (core->before == SL_PHASE_SHARE)
		sl_emit_job(core, SL_JOB_COMMITMENT, 0, NULL);
}

void sl_ready_commitment(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_ready *own = &core->readys[core->config.self].ready;
	core->readys[core->config.self].record.present =
		false; /* an earlier one may still be queued for a link */
	*own = (struct sl_ready){.id = core->config.ids[core->config.self],
				 .t = core->t,
				 .a = core->a,
				 .k = core->view.costs.k};
	memcpy(own->view, core->view.h, SL_HASH_BYTES);
	memcpy(own->commitment, result->hash, SL_HASH_BYTES);
	struct sl_persist *persist = sl_emit_persist(core, SL_PERSIST_PREPARED, core->a);
	persist->view = core->at.view_bytes;
	persist->view_bytes = core->at.view_size;
	persist->readys = own;
	persist->ready_count = 1;
	persist->draw = core->draws;
}

void sl_ready_prepared(struct sl_core *core)
{
	core->at.prepared = true;
	sl_relay_own_ready(core);
}

/* Return true if an honest participant may announce `k`. For one view, K differs by rounding at most; if
 * another engine may take its place, metropolis may be possible for one learner and not for another. */
static bool likely(const struct sl_view *view, uint64_t k)
{
	bool none = k == SL_ITERATIONS_NONE && !sl_engine_rows[view->agreed.mixing].needs_k;
	return none || k <= 2 * view->costs.k + 16;
}

static const struct sl_ready *ready_of(const struct sl_core *core, uint32_t position)
{
	const struct sl_ready_record *rr = &core->readys[core->view.members[position]];
	bool here = rr->record.present && rr->ready.t == core->t && rr->ready.a == core->a &&
		    memcmp(rr->ready.view, core->view.h, SL_HASH_BYTES) == 0;
	return here && likely(&core->view, rr->ready.k) ? &rr->ready : NULL;
}

/* Copy the Readys to the attempt, since later records may replace them; the largest K goes to *k. Return true
 * if all are here. */
static bool gather_readys(struct sl_core *core, uint64_t *k)
{
	bool all = true;
	memset(core->missing, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->view.n; i++) {
		const struct sl_ready *ready = ready_of(core, i);
		if (ready != NULL)
			core->at.readys[i] = *ready;
		else
			sl_bit_set(core->missing, core->view.members[i]);
		if (ready != NULL && ready->k > *k)
			*k = ready->k;
		all &= ready != NULL;
	}
	return all;
}

/* Make the release durable; the masked state leaves after that. */
static void release(struct sl_core *core)
{
	struct sl_persist *persist = sl_emit_persist(core, SL_PERSIST_RELEASED, core->a);
	persist->readys = core->at.readys;
	persist->ready_count = core->view.n;
	sl_releases_use(core);
	memcpy(core->open_view, core->view.h, SL_HASH_BYTES);
	sl_move_to(core, SL_PHASE_RELEASE);
}

/* The barrier: no learner releases its masked state before it holds a Ready of every participant. The largest
 * K counts. Once the own Ready is out, other participants may pass the barrier: then only an Abort or the
 * timeout ends the attempt. */
bool sl_ready_advance(struct sl_core *core)
{
	uint64_t k = 0;
	if (!core->at.prepared)
		return false;
	if (sl_catchup_begin(core))
		return true;
	uint32_t who = sl_releases_abort_of_view(core);
	if (who != SL_NOBODY) { /* came in CATCHUP */
		sl_attempt_fail(core, SL_REASON_ABORTED, true)->peer = who;
		return true;
	}
	if (gather_readys(core, &k)) {
		core->view.costs.k = k;
		if (!core->at.resumed) /* else there is no analysis of the graph */
			sl_view_set_engine(&core->view);
		release(core);
		return true;
	}
	if (core->now >= core->since + core->config.prepare_timeout_ms) {
		sl_attempt_fail(core, SL_REASON_STALLED, false)->set = core->failed;
		return true;
	}
	sl_emit_waiting(core, core->missing);
	return false;
}

sl_ms sl_ready_deadline(const struct sl_core *core)
{
	sl_ms end = core->since + core->config.prepare_timeout_ms;
	if (!core->at.prepared)
		return SL_NEVER; /* PREPARED is not durable yet */
	return core->report_at < end ? core->report_at : end;
}

void sl_ready_released(struct sl_core *core)
{
	uint32_t aborted = sl_releases_abort_of_view(core), joined = core->at.joined;
	if (core->at.resumed || aborted != SL_NOBODY || joined != SL_NOBODY) { /* mixing cannot succeed */
		enum sl_reason reason = core->at.resumed       ? SL_REASON_RESTARTED
					: aborted != SL_NOBODY ? SL_REASON_ABORTED
							       : SL_REASON_JOINED;
		struct sl_report *report = sl_attempt_fail(core, reason, false);
		if (reason != SL_REASON_RESTARTED)
			report->peer = aborted != SL_NOBODY ? aborted : joined;
		return;
	}
	sl_move_to(core, SL_PHASE_MIX);
}
