/* Waits for the view to close, then asks for its spectrum and lets the gate decide (protocol 5, FREEZE and GATE). */
#include "common/core/state.h"

#include <math.h>

#include "common/math/spectrum.h"

void sl_freeze_enter(struct sl_core *core)
{
	core->view_built = false;
	core->view_gated = false;
	sl_flood_own_link_state(core, core->tried_candidates);
}

static uint64_t link_states_held(const struct sl_core *core)
{
	uint64_t held = 0;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		held += core->links[i].record.present && core->links[i].state.t == core->t &&
			core->links[i].state.a == core->a;
	return held;
}

bool sl_freeze_advance(struct sl_core *core)
{
	if (core->view_built || core->jobs > 0)
		return false; /* jobs of an earlier attempt may still read the view */
	int rc = sl_view_build(core);
	if (rc == SL_OK) {
		sl_job(core, SL_JOB_SPECTRUM, 0, NULL);
		return false;
	}
	if (rc == SL_ERR_REFUSED)
		return true;
	uint64_t held = link_states_held(core);
	if (held != core->flood_held) { /* the deadline is about progress */
		core->flood_held = held;
		core->at.progress = core->now;
	}
	if (core->now < core->at.progress + core->config.flood_ms)
		return false;
	sl_fail_attempt(core, SL_REASON_FLOOD, true)->set = core->blamed;
	return true;
}

/* The width rule and the iteration limit; quorum, connectedness and the p bound were met when the view was built. */
static bool gate(struct sl_core *core)
{
	struct sl_view *view = &core->view;
	double need = sl_width_need(&view->graph, view->mu);
	if (!(ldexp(1.0, (int)view->fraction) >= need)) {
		struct sl_report *report = sl_fail_attempt(core, SL_REASON_WIDTH, true);
		report->n[0] = view->fraction;
		report->n[1] = sl_width_p_bits(need);
		report->real = need;
		return false;
	}
	if (view->k > SL_ITERATIONS_MAX) {
		struct sl_report *report = sl_fail_attempt(core, SL_REASON_ITERATIONS, true);
		report->n[0] = view->k;
		report->n[1] = SL_ITERATIONS_MAX;
		return false;
	}
	return true;
}

void sl_freeze_spectrum(struct sl_core *core, double mu)
{
	struct sl_view *view = &core->view;
	view->mu = mu;
	view->k = sl_iterations(view->field.p, view->n, mu);
	if (view->k < core->config.parameters.k)
		view->k = core->config.parameters.k;
	if (!gate(core))
		return;
	struct sl_report *report = sl_report(core, SL_REPORT_VIEW);
	report->n[0] = view->n;
	report->n[1] = view->graph.edges;
	report->n[2] = view->k;
	report->n[3] = view->field.p;
	report->real = mu;
	core->view_gated = true;
	sl_move(core, SL_PHASE_SHARE);
	sl_share_enter(core);
}
