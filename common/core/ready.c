/* Between the shares and the first states: Ready, and nothing more until everybody is; then the release
 * (protocol 6).
 *
 *    sealed --PREPARED durable--> own Ready out --all Readys here--> RELEASED durable --> the masked state
 * may leave
 */
#include "common/core/state.h"

/* On record before the own Ready leaves (protocol 6, READY). */
void sl_ready_commitment(struct sl_core *core, const uint8_t *commitment)
{
	struct sl_ready *own = &core->readys[core->config.self].ready;
	core->readys[core->config.self].record.present =
		false; /* the last round's may still be on its way to a link */
	*own = (struct sl_ready){.id = core->config.ids[core->config.self],
				 .t = core->t,
				 .a = core->a,
				 .k = core->view.costs.k};
	memcpy(own->view, core->view.h, SL_HASH_BYTES);
	memcpy(own->commitment, commitment, SL_HASH_BYTES);
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
	sl_flood_own_ready(core);
}

/* Of one view, K differs by a rounding at most; where there is another way, metropolis may be just possible
 * for one and not for the other. */
static bool likely(const struct sl_view *view, uint64_t k)
{
	bool none = k == SL_ITERATIONS_NONE && view->agreed.mixing != SL_ENGINE_METROPOLIS;
	return none || k <= 2 * view->costs.k + 16;
}

static const struct sl_ready *ready_of(const struct sl_core *core, uint32_t position)
{
	const struct sl_ready_record *rr = &core->readys[core->view.members[position]];
	bool here = rr->record.present && rr->ready.t == core->t && rr->ready.a == core->a &&
		    memcmp(rr->ready.view, core->view.h, SL_HASH_BYTES) == 0;
	return here && likely(&core->view, rr->ready.k) ? &rr->ready : NULL;
}

/* All of them, kept with the attempt: records of a later one may take their place. */
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

/* On record before the first masked state leaves. */
static void release(struct sl_core *core)
{
	struct sl_persist *persist = sl_emit_persist(core, SL_PERSIST_RELEASED, core->a);
	persist->readys = core->at.readys;
	persist->ready_count = core->view.n;
	sl_release_log_use(core);
	memcpy(core->open_view, core->view.h, SL_HASH_BYTES);
	sl_attempt_move(core, SL_PHASE_RELEASE);
}

/* The barrier: nobody's masked state leaves before everybody is Ready. The largest K announced counts. Once
 * the own Ready is out, somebody else may pass it: then only a fence, or waiting in vain, allows to give up.
 */
bool sl_ready_advance(struct sl_core *core)
{
	uint64_t k = 0;
	if (!core->at.prepared)
		return false;
	if (sl_catchup_begin(core))
		return true;
	uint32_t who = sl_abort_of_view(core);
	if (who != SL_NOBODY) { /* heard while this learner was catching up */
		sl_attempt_fail(core, SL_REASON_ABORTED, true)->peer = who;
		return true;
	}
	if (gather_readys(core, &k)) {
		core->view.costs.k = k;
		if (!core->at.resumed) /* then there is no survey of it */
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

void sl_ready_released(struct sl_core *core)
{
	uint32_t aborted = sl_abort_of_view(core), joined = core->at.joined;
	if (core->at.resumed || aborted != SL_NOBODY ||
	    joined != SL_NOBODY) { /* there is nothing, or nobody, to mix with */
		enum sl_reason reason = core->at.resumed       ? SL_REASON_RESTARTED
					: aborted != SL_NOBODY ? SL_REASON_ABORTED
							       : SL_REASON_JOINED;
		struct sl_report *report = sl_recover_enter(core, reason);
		if (reason != SL_REASON_RESTARTED)
			report->peer = aborted != SL_NOBODY ? aborted : joined;
		return;
	}
	sl_attempt_move(core, SL_PHASE_MIX);
	sl_mix_enter(core);
	for (uint32_t r = 0; r < core->view.degree; r++) {
		uint32_t peer = sl_view_peer(&core->view, r);
		if (sl_bit(core->linked, peer))
			continue;
		sl_attempt_fail(core, SL_REASON_LINK, false)->peer = peer;
		return;
	}
}
