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
		sl_job(core, SL_JOB_SURVEY, 0, NULL);
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

/* A round that was released to others may be complete at one of them: only when all have signed for a later attempt is
 * it certain that none can commit it (protocol 6, rule A, without Fences). */
static bool closed(struct sl_core *core)
{
	bool all = true;
	sl_attempt open = 0;
	memset(core->awaited, 0, sl_set_bytes(core));
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		const struct sl_link_record *lr = &core->links[i];
		sl_attempt a = core->peers[i].open;
		if (a == 0 || (lr->record.present && lr->state.t == core->t && lr->state.a > a))
			continue;
		sl_bit_set(core->awaited, i);
		open = a > open ? a : open;
		all = false;
	}
	if (!all) {
		struct sl_report *report = sl_fail_attempt(core, SL_REASON_OPEN, true);
		report->set = core->blamed;
		report->n[0] = open;
	}
	return all;
}

static void name_weak(struct sl_core *core, struct sl_report *report, const struct sl_survey *survey)
{
	const struct sl_view *view = &core->view;
	memset(core->blamed, 0, sl_set_bytes(core));
	for (uint32_t i = 0; i < survey->weak_count; i++)
		sl_bit_set(core->blamed, view->members[survey->weak[i]]);
	report->set = core->blamed;
	report->edge_count = survey->missing_count < SL_ADVICE_MAX ? survey->missing_count : SL_ADVICE_MAX;
	for (uint32_t e = 0; e < report->edge_count; e++)
		core->advice[e] = (struct sl_edge){view->members[survey->missing[e].a], view->members[survey->missing[e].b]};
	report->edges = core->advice;
}

/* Any c learners that pool what they see learn nothing but the mean: N >= c+2 and kappa >= c+1 (protocol 4, F2). */
static bool tolerant(struct sl_core *core, const struct sl_survey *survey)
{
	uint64_t c = core->view.agreed.tolerance;
	bool few = core->view.n < c + 2;
	if (!few && survey->kappa > c)
		return true;
	enum sl_reason reason = few ? SL_REASON_FEW : SL_REASON_TOLERANCE;
	bool pass = core->config.gate_warn;
	core->unthinned |= !pass && !few;
	struct sl_report *report = pass ? sl_report(core, SL_REPORT_EXPOSED) : sl_fail_attempt(core, reason, true);
	report->reason = reason;
	report->n[0] = few ? core->view.n : survey->kappa;
	report->n[1] = c;
	report->n[2] = survey->missing_count;
	if (!few)
		name_weak(core, report, survey);
	return pass;
}

/* K: what the graph needs, or the floor; a fixed one must suffice (protocol 7). */
static bool set_iterations(struct sl_core *core)
{
	struct sl_view *view = &core->view;
	const struct sl_parameters *agreed = &view->agreed;
	uint64_t need = sl_iterations(view->field.p, view->n, view->mu);
	view->k = need > agreed->k ? need : agreed->k;
	if (view->k > SL_ITERATIONS_MAX) {
		struct sl_report *report = sl_fail_attempt(core, SL_REASON_ITERATIONS, true);
		report->n[0] = view->k;
		report->n[1] = SL_ITERATIONS_MAX;
		return false;
	}
	if (agreed->k_fixed && agreed->k < need) {
		struct sl_report *report = sl_fail_attempt(core, SL_REASON_K_FIXED, true);
		report->n[0] = agreed->k;
		report->n[1] = need;
		return false;
	}
	return true;
}

static bool wide_enough(struct sl_core *core)
{
	struct sl_view *view = &core->view;
	double need = sl_width_need(&view->graph, view->mu);
	if (ldexp(1.0, (int)view->fraction) >= need)
		return true;
	struct sl_report *report = sl_fail_attempt(core, SL_REASON_WIDTH, true);
	report->n[0] = view->fraction;
	report->n[1] = sl_width_p_bits(need);
	report->real = need;
	return false;
}

/* What this learner will send: shares at the width of p, and K states of 8 bytes, to each neighbour. */
static uint64_t forecast_bytes(const struct sl_view *view)
{
	return view->degree * view->elements * (view->field.bytes + view->k * SL_STATE_BYTES);
}

static void report_view(struct sl_core *core)
{
	const struct sl_view *view = &core->view;
	struct sl_report *report = sl_report(core, SL_REPORT_VIEW);
	report->n[0] = view->n;
	report->n[1] = view->graph.edges;
	report->n[2] = view->k;
	report->n[3] = view->field.p;
	report->real = view->mu;
	report->bytes = forecast_bytes(view);
	report->set = core->fellows;
}

/* Quorum, connectedness and the p bound were met when the view was built. */
void sl_freeze_survey(struct sl_core *core, const struct sl_job_result *result)
{
	if (result->code != SL_OK) {
		sl_fail_attempt(core, SL_REASON_MEMORY, true);
		return;
	}
	core->view.mu = result->survey->mu;
	if (!closed(core) || !tolerant(core, result->survey) || !wide_enough(core) || !set_iterations(core))
		return;
	report_view(core);
	core->view_gated = true;
	sl_move(core, SL_PHASE_SHARE);
	sl_share_enter(core);
}
