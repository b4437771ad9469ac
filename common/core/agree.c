/* Waits for the view to close, then asks for its spectrum and lets the gate decide (protocol 5, AGREE and
 * GATE). */
#include "common/core/state.h"

#include <math.h>

#include "common/mixing/spectrum.h"

void sl_agree_enter(struct sl_core *core)
{
	core->view_built = false;
	core->view_checked = false;
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

bool sl_agree_advance(struct sl_core *core)
{
	if (core->view_built || core->jobs > 0)
		return false; /* jobs of an earlier attempt may still read the view */
	bool late = core->now >= core->at.progress + core->config.agreement_timeout_ms;
	if (!core->flood_news && !late)
		return false; /* it would come out as before, and most of a flood is heard twice */
	core->flood_news = false;
	int rc = sl_view_build(core);
	if (rc == SL_OK) {
		sl_emit_job(core, SL_JOB_ANALYSE, 0, NULL);
		return false;
	}
	if (rc == SL_ERR_REFUSED)
		return true;
	uint64_t held = link_states_held(core);
	if (held != core->flood_held) { /* the deadline is about progress */
		core->flood_held = held;
		core->at.progress = core->now;
	}
	if (core->now < core->at.progress + core->config.agreement_timeout_ms)
		return false;
	sl_attempt_fail(core, SL_REASON_FLOOD, true)->set = core->failed;
	return true;
}

/* What cannot come to anything is not begun: one of the view has given it up already; or, if it failed, it
 * could not be told from those before it. */
static bool worth_it(struct sl_core *core)
{
	uint32_t who = sl_abort_of_view(core);
	if (who != SL_NOBODY) {
		sl_attempt_fail(core, SL_REASON_ABORTED, true)->peer = who;
		return false;
	}
	if (core->release_log.count == SL_RELEASED_MAX) {
		sl_attempt_fail(core, SL_REASON_USED_UP, true)->n[0] = core->release_log.count;
		return false;
	}
	return true;
}

static void name_weak(struct sl_core *core, struct sl_report *report, const struct sl_analysis *analysis)
{
	const struct sl_view *view = &core->view;
	memset(core->failed, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < analysis->weak_count; i++)
		sl_bit_set(core->failed, view->members[analysis->weak[i]]);
	report->set = core->failed;
	report->edge_count =
		analysis->missing_count < SL_ADVICE_MAX ? analysis->missing_count : SL_ADVICE_MAX;
	for (uint32_t e = 0; e < report->edge_count; e++)
		core->advice[e] = (struct sl_edge){view->members[analysis->missing[e].a],
						   view->members[analysis->missing[e].b]};
	report->edges = core->advice;
}

/* Any c learners that pool what they see learn nothing but the mean: N >= c+2 and kappa >= c+1 (protocol 4,
 * F2). */
static bool tolerant(struct sl_core *core, const struct sl_analysis *analysis)
{
	uint64_t c = core->view.agreed.tolerance;
	bool few = core->view.n < c + 2;
	if (!few && analysis->kappa > c)
		return true;
	enum sl_reason reason = few ? SL_REASON_FEW : SL_REASON_TOLERANCE;
	bool pass = core->config.privacy_check_warns;
	core->full_graph |= !pass && !few;
	struct sl_report *report =
		pass ? sl_emit_report(core, SL_REPORT_EXPOSED) : sl_attempt_fail(core, reason, true);
	report->reason = reason;
	report->n[0] = few ? core->view.n : analysis->kappa;
	report->n[1] = c;
	report->n[2] = analysis->missing_count;
	if (!few)
		name_weak(core, report, analysis);
	return pass;
}

/* Why metropolis cannot mix this view, or NONE. */
static enum sl_reason metropolis_flaw(const struct sl_view *view, uint64_t need, double width)
{
	if (ldexp(1.0, (int)view->fraction) < width)
		return SL_REASON_WIDTH;
	if (view->costs.k > SL_ITERATIONS_MAX)
		return SL_REASON_ITERATIONS;
	return view->agreed.iterations_rule && view->agreed.k < need ? SL_REASON_ITERATIONS_RULE
								     : SL_REASON_NONE;
}

static void refuse_metropolis(struct sl_core *core, enum sl_reason reason, uint64_t need, double width)
{
	const struct sl_view *view = &core->view;
	struct sl_report *report = sl_attempt_fail(core, reason, true);
	report->n[0] = reason == SL_REASON_WIDTH	? view->fraction
		       : reason == SL_REASON_ITERATIONS ? view->costs.k
							: view->agreed.k;
	report->n[1] = reason == SL_REASON_WIDTH	? sl_spectrum_p_bits(width)
		       : reason == SL_REASON_ITERATIONS ? SL_ITERATIONS_MAX
							: need;
	report->real = reason == SL_REASON_WIDTH ? width : 0;
}

/* K: what the graph needs, or the floor; a fixed one must suffice (protocol 7). Where there is no other way
 * the gate refuses what cannot be; else that is said with the Ready. */
static bool set_metropolis(struct sl_core *core, double mu)
{
	struct sl_view *view = &core->view;
	const struct sl_parameters *agreed = &view->agreed;
	uint64_t need = sl_spectrum_iterations(view->field.p, view->n, mu),
		 k = need > agreed->k ? need : agreed->k;
	double width = sl_spectrum_width_need(&view->graph, mu);
	view->mu = mu;
	view->costs.k = k;
	enum sl_reason flaw = metropolis_flaw(view, need, width);
	if (flaw != SL_REASON_NONE && agreed->mixing == SL_ENGINE_METROPOLIS) {
		refuse_metropolis(core, flaw, need, width);
		return false;
	}
	if (flaw != SL_REASON_NONE)
		view->costs.k = SL_ITERATIONS_NONE;
	return true;
}

/* What it takes to mix. */
static bool set_engine(struct sl_core *core, const struct sl_analysis *analysis)
{
	struct sl_view *view = &core->view;
	sl_job_analysis_apply(analysis, view);
	if (analysis->mu < 1 && !set_metropolis(core, analysis->mu))
		return false;
	sl_view_set_engine(view);
	return true;
}

/* Vectors that this learner will send while mixing. Of tree: its masked state, to its keeper and, as a leaf,
 * to its parent; a sum to its parent; Z to its children. */
static uint64_t states_out(const struct sl_view *view)
{
	uint64_t count = 0;
	for (uint32_t r = 0; r < view->degree; r++)
		count += (uint32_t)__builtin_popcount(view->roles[r] &
						      (SL_ROLE_PARENT | SL_ROLE_CHILD | SL_ROLE_BACKUP));
	return view->engine == SL_ENGINE_TREE ? count : view->degree * view->steps;
}

/* To its neighbours: shares at the width of p, or seeds, and what mixing takes. */
static uint64_t forecast_bytes(const struct sl_view *view)
{
	uint64_t shares =
		view->sharing == SL_SHARING_SEEDED ? SL_KEY_BYTES : view->elements * view->field.bytes;
	return view->degree * shares + states_out(view) * view->elements * sl_view_mixing_width(view);
}

static void report_view(struct sl_core *core)
{
	const struct sl_view *view = &core->view;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_VIEW);
	report->n[0] = view->n;
	report->n[1] = view->graph.edges;
	report->n[2] = view->steps;
	report->n[3] = view->field.p;
	report->engine = view->engine;
	report->real = view->mu;
	report->bytes = forecast_bytes(view);
	report->set = core->view_neighbours;
}

/* Quorum, connectedness and the p bound were met when the view was built. */
void sl_agree_analysed(struct sl_core *core, const struct sl_job_result *result)
{
	if (result->code != SL_OK) {
		sl_attempt_fail(core, SL_REASON_MEMORY, true);
		return;
	}
	if (!worth_it(core) || !tolerant(core, result->analysis) || !set_engine(core, result->analysis))
		return;
	report_view(core);
	core->view_checked = true;
	sl_attempt_move(core, SL_PHASE_SHARE);
	sl_share_enter(core);
}
