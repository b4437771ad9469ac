#include "common/core/agree.h"

#include <math.h>

#include "common/compute/job_analysis.h"
#include "common/core/aborts.h"
#include "common/core/attempt.h"
#include "common/core/compatible.h"
#include "common/core/emit.h"
#include "common/core/move.h"
#include "common/core/relay.h"
#include "common/core/penalty.h"
#include "common/core/seen.h"
#include "common/core/spare.h"
#include "common/core/view_build.h"
#include "common/mixing/privacy.h"
#include "common/mixing/spectrum.h"
#include "common/protocol/key_tree.h"

void sl_agree_enter(struct sl_core *core)
{
	core->view_built = false;
	core->view_checked = false;
	sl_relay_own_link_state(core, core->tried_candidates);
}

static uint64_t link_states_held(const struct sl_core *core)
{
	uint64_t held = 0;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		held += sl_view_link(core, i, core->a) != NULL;
	return held;
}

/* Return the time at which the attempt ends for want of link states, if none arrives before. */
static sl_ms missing_until(const struct sl_core *core)
{
	sl_ms due = core->at.progress + core->config.stall_timeout_ms;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		sl_ms waits = sl_bit(core->missing, i) ? sl_penalty_waits_until(core, i) : 0;
		due = waits > due ? waits : due;
	}
	return due;
}

/* End the attempt, in which link states are missing. The learners that name one that was missing before hold
 * up the attempt as much as it does, and get a penalty with it. */
static void end_for_missing(struct sl_core *core)
{
	sl_attempt a = core->a;
	memcpy(core->eligible, core->missing, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		for (uint32_t j = 0; i != core->config.self && sl_view_link(core, i, a) != NULL &&
				     j < core->config.roster_size;
		     j++)
			if (sl_bit(core->eligible, j) && sl_penalty_out(core, j) &&
			    sl_bit(core->links[i].named, j))
				sl_bit_set(core->missing, i);
	sl_attempt_fail(core, SL_REASON_FLOOD, true)->set = core->failed;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (sl_view_link(core, i, a) != NULL)
			sl_bit_clear(core->failed, i);
}

void sl_agree_superseded(struct sl_core *core, uint32_t signer, sl_attempt a)
{
	bool waits = core->phase == SL_PHASE_AGREE && !core->view_built &&
		     core->now >= core->at.progress + core->config.stall_timeout_ms / 2;
	if (!waits)
		memcpy(core->missing, sl_emit_only(core, signer), sl_core_set_bytes(core));
	struct sl_report *report = sl_attempt_fail(core, SL_REASON_SUPERSEDED, false);
	report->peer = signer;
	report->why.attempt.a = a;
}

bool sl_agree_advance(struct sl_core *core)
{
	if (core->view_built || core->jobs > 0)
		return false; /* jobs of an earlier attempt may still read the view */
	bool late = core->now >= missing_until(core);
	if (!core->flood_news && !late)
		return false; /* the view would come out as before: most link states arrive twice */
	core->flood_news = false;
	int rc = sl_view_build(core);
	if (rc == SL_OK) {
		sl_emit_job(core, SL_JOB_ANALYSE, 0, NULL);
		return false;
	}
	if (rc == SL_ERR_REFUSED)
		return true;
	uint64_t held = link_states_held(core);
	if (held != core->flood_held) { /* each new link state extends the deadline */
		core->flood_held = held;
		core->at.progress = core->now;
	}
	if (core->now < missing_until(core))
		return false;
	end_for_missing(core);
	return true;
}

enum sl_wait sl_agree_awaits(const struct sl_core *core, uint64_t *set)
{
	if (core->view_built || core->jobs > 0)
		return SL_WAIT_ARITHMETIC;
	for (uint32_t i = 0; i < core->config.roster_size; i++) /* those that the last try of a view lacked */
		if (sl_bit(core->missing, i) && sl_view_link(core, i, core->a) == NULL)
			sl_bit_set(set, i);
	return SL_WAIT_LINK_STATES;
}

sl_ms sl_agree_deadline(const struct sl_core *core)
{
	return core->view_built || core->jobs > 0 ? SL_NEVER : missing_until(core);
}

void sl_agree_lost(struct sl_core *core, uint32_t peer)
{
	bool outside = core->view_built && core->view.position[peer] == UINT32_MAX;
	if (sl_bit(core->tried_candidates, peer) && !outside)
		sl_attempt_fail_by(core, peer, SL_REASON_LINK, false);
}

/* Return true if the attempt can succeed: no participant has aborted it. */
static bool may_succeed(struct sl_core *core)
{
	uint32_t who = sl_aborts_of_view(core);
	if (who != SL_NOBODY) {
		sl_attempt_fail_by(core, who, SL_REASON_ABORTED, true);
		return false;
	}
	return true;
}

/* Put the cut and the missing links of the analysis into `report`, as roster indices. */
static void name_cut(struct sl_core *core, struct sl_report *report, const struct sl_analysis *analysis)
{
	const struct sl_view *view = &core->view;
	memset(core->failed, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < analysis->cut_count; i++)
		sl_bit_set(core->failed, view->members[analysis->cut[i]]);
	report->set = core->failed;
	uint32_t count = analysis->missing_count < SL_ADVICE_MAX ? analysis->missing_count : SL_ADVICE_MAX;
	for (uint32_t e = 0; e < count; e++)
		core->advice[e] = (struct sl_edge){view->members[analysis->missing[e].a],
						   view->members[analysis->missing[e].b]};
	report->why.tolerance.edge_count = count;
	report->why.tolerance.edges = core->advice;
}

static void describe_graph(const struct sl_core *core, struct sl_report *report,
			   const struct sl_analysis *analysis)
{
	report->why.tolerance.learners = core->view.n;
	report->why.tolerance.kappa = analysis->kappa;
	report->why.tolerance.tolerance = core->view.agreed.tolerance;
	report->why.tolerance.missing = analysis->missing_count;
}

/* Check the view's privacy at the agreed c (ROUND.md §7.9 Privacy check). Return true if the attempt may
 * go on. */
static bool tolerant(struct sl_core *core, const struct sl_analysis *analysis)
{
	uint64_t c = core->view.agreed.tolerance;
	enum sl_privacy privacy = sl_privacy_check(core->view.n, analysis->kappa, c);
	if (privacy == SL_PRIVACY_KEPT)
		return true;
	bool few = privacy == SL_PRIVACY_FEW, pass = core->view.agreed.privacy_check == 0;
	enum sl_reason reason = few ? SL_REASON_FEW : SL_REASON_TOLERANCE;
	core->full_graph |= !pass && !few;
	struct sl_report *report =
		pass ? sl_emit_report(core, SL_REPORT_EXPOSED) : sl_attempt_fail(core, reason, true);
	report->reason = reason;
	describe_graph(core, report, analysis);
	if (!few)
		name_cut(core, report, analysis);
	return pass;
}

/* Name in `report` the participants that are not kept. */
static void name_pruned(struct sl_core *core, struct sl_report *report, const struct sl_analysis *analysis)
{
	describe_graph(core, report, analysis);
	name_cut(core, report, analysis);
	memset(core->failed, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->view.n; i++)
		if (!sl_bit(analysis->kept, i))
			sl_bit_set(core->failed, core->view.members[i]);
	report->reason = SL_REASON_PRUNED;
	report->set = core->failed;
}

/* Return true if a participant that is not kept was not reported as such in this round. */
static bool newly_pruned(struct sl_core *core, const struct sl_analysis *analysis)
{
	bool news = false;
	for (uint32_t i = 0; i < core->view.n; i++)
		if (!sl_bit(analysis->kept, i))
			news |= sl_compatible_told(core, core->view.members[i], SL_REASON_PRUNED);
	return news;
}

/* The graph fails the privacy check, and a part of it passes: agree on the view of this part. All
 * participants find the same part. */
static void prune(struct sl_core *core, const struct sl_analysis *analysis)
{
	if (!sl_bit(analysis->kept, core->view.self)) {
		core->full_graph |= core->config.membership_change != SL_MEMBERSHIP_WARN; /* all wait */
		name_pruned(core, sl_attempt_fail(core, SL_REASON_PRUNED, true), analysis);
		return;
	}
	if (newly_pruned(core, analysis))
		name_pruned(core, sl_emit_report(core, SL_REPORT_LEFT_OUT), analysis);
	if (sl_view_prune(core, analysis->kept) == SL_OK)
		sl_emit_job(core, SL_JOB_ANALYSE, 0, NULL);
}

/* Return the reason for which metropolis cannot mix this view, or SL_REASON_NONE. */
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
	if (reason == SL_REASON_WIDTH) {
		report->why.width.fraction = view->fraction;
		report->why.width.p_bits_most = sl_spectrum_p_bits(width);
		report->why.width.need = width;
	} else {
		report->why.iterations.need = reason == SL_REASON_ITERATIONS ? view->costs.k : need;
		report->why.iterations.limit =
			reason == SL_REASON_ITERATIONS ? SL_ITERATIONS_MAX : view->agreed.k;
	}
}

/* Set K: what the graph needs or the agreed floor, whichever is larger; a fixed K must suffice (ROUND.md
 * §8.2 metropolis). Return false if metropolis cannot run and no other engine may take its place. If one may,
 * the own Ready says SL_ITERATIONS_NONE. */
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
	if (flaw != SL_REASON_NONE && sl_engine_rows[agreed->mixing].needs_k) {
		refuse_metropolis(core, flaw, need, width);
		return false;
	}
	if (flaw != SL_REASON_NONE)
		view->costs.k = SL_ITERATIONS_NONE;
	return true;
}

/* Fill view->costs, and the engine as far as the own K decides it. Return false if the attempt failed. */
static bool set_engine(struct sl_core *core, const struct sl_analysis *analysis)
{
	struct sl_view *view = &core->view;
	sl_job_analysis_apply(analysis, view);
	if (analysis->mu < 1 && !set_metropolis(core, analysis->mu))
		return false;
	sl_view_set_engine(view);
	return true;
}

/* Return the elements that this learner will send in States. By forest: a chunk over each of its edges in the
 * tree of the chunk. */
static uint64_t elements_out(const struct sl_view *view)
{
	if (sl_engine_rows[view->engine].to_all)
		return sl_engine_states(view->engine, view->steps, view->degree) * view->elements;
	uint64_t count = 0;
	for (uint32_t m = 0; m < view->state_chunks; m++)
		for (uint32_t r = 0; r < view->degree; r++)
			if ((view->up[r] | view->down[r]) & sl_view_tree(view, m))
				count += sl_view_state_elements(view, m);
	return count;
}

/* Return the bytes that this learner will send to its neighbours: shares, or seeds; its deposit to its
 * keepers, key shares and the key; states. */
static uint64_t forecast_bytes(const struct sl_view *view)
{
	uint64_t vector = sl_packed_bytes(view->elements, view->field.bits), keepers = 0;
	uint64_t share = view->sharing == SL_SHARING_SEEDED ? SL_KEY_BYTES : vector;
	for (uint32_t r = 0; r < view->degree; r++)
		keepers += sl_view_is_keeper(view, r);
	share += sl_key_tree_share_bytes(view->degree) + SL_KEY_BYTES;
	uint64_t states = sl_packed_bytes(elements_out(view), sl_view_mixing_bits(view));
	return view->degree * share + keepers * vector + states;
}

static void report_view(struct sl_core *core)
{
	const struct sl_view *view = &core->view;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_VIEW);
	memset(core->participants, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < view->n; i++)
		sl_bit_set(core->participants, view->members[i]);
	report->view.h = view->h;
	report->view.participants = core->participants;
	report->view.tolerance = sl_view_tolerates(view, NULL);
	report->view.learners = view->n;
	report->view.edges = view->graph.edges;
	report->view.exchanges = view->steps;
	report->view.p = view->field.p;
	report->view.bytes = forecast_bytes(view);
	report->view.engine = view->engine;
	report->view.mu = view->mu;
	report->view.atom = core->atom;
	report->set = core->view_neighbours;
}

/* Return true if the attempt may go on, whatever its sum tells beside those that were seen: before the first
 * share, nothing of it is told. */
static bool tells_little(struct sl_core *core)
{
	if (!sl_seen_tells(core) || core->config.membership_change == SL_MEMBERSHIP_WARN)
		return true;
	core->full_graph = true;
	sl_attempt_fail(core, SL_REASON_MEMBERSHIP, true)->set = core->changed;
	return false;
}

/* The quorum and the bounds on p were checked when the view was built, and it is connected. */
void sl_agree_analysed(struct sl_core *core, const struct sl_job_result *result)
{
	if (result->code != SL_OK) {
		sl_attempt_fail(core, SL_REASON_MEMORY, true);
		return;
	}
	if (!may_succeed(core))
		return;
	if (result->analysis->kept_count > 0) {
		prune(core, result->analysis);
		return;
	}
	if (!tolerant(core, result->analysis) || !tells_little(core) || !set_engine(core, result->analysis))
		return;
	report_view(core);
	core->view_checked = true;
	sl_spare_view(core);
	sl_move_to(core, SL_PHASE_SHARE);
}
