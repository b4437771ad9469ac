/* The privacy check of the steps of a schedule, before a daemon starts (ROUND.md §7.9 Privacy check). */
#include "common/report/privacy_text.h"
#include "tools/launch/plan.h"
#include "tools/topology/figures.h"

#define WARNINGS_MOST 5u

struct check {
	const struct sl_plan *plan;
	struct sl_figures figures;
	uint32_t possible, warned; /* steps */
};

/* Count the step, and warn if it is refused, or goes on without some. A step that is not connected was warned
 * of before. */
static int check_step(struct check *check, uint32_t step, struct sl_progress *progress)
{
	char why[1024];
	const struct sl_analysis *a = &check->figures.analysis;
	uint64_t c = check->plan->settings.tolerance;
	check->figures.request.analysis.missing = check->warned < WARNINGS_MOST;
	int rc = sl_figures_step(&check->figures, step);
	if (rc != SL_OK)
		return rc;
	bool kept = sl_privacy_check(check->plan->learners, a->kappa, c) == SL_PRIVACY_KEPT;
	check->possible += kept || a->kept_count > 0;
	if (kept || a->components > 1)
		return SL_OK;
	sl_figures_refusal(&check->figures, c, why, sizeof why);
	if (check->warned++ < WARNINGS_MOST)
		sl_progress_line(progress, "warning: step %u will %s: %s", step + 1,
				 check->plan->settings.privacy_check == SL_PRIVACY_WARN
					 ? "be logged as not private"
				 : a->kept_count > 0 ? "leave learners out"
						     : "be refused",
				 why);
	return SL_OK;
}

/* Return `text`, which names a remedy that dp does not allow. */
static const char *waives(const struct sl_plan *plan, const char *text)
{
	return plan->settings.dp == SL_DP_USE_OFF ? text : "";
}

static int conclude(const struct check *check, struct sl_progress *progress, struct sl_error *error)
{
	const struct sl_plan *plan = check->plan;
	uint32_t c = plan->settings.tolerance;
	if (check->warned > WARNINGS_MOST)
		sl_progress_line(progress, "warning: and %u more of the %u steps",
				 check->warned - WARNINGS_MOST, plan->schedule.steps);
	if (check->possible > 0 || plan->settings.privacy_check == SL_PRIVACY_WARN)
		return SL_OK;
	return sl_err_set(error, SL_ERR_REFUSED,
			  "no step of %s tolerates %u colluding learner%s, so every round would be refused: "
			  "add links with starling topology augment%s",
			  plan->topology, c, c == 1 ? "" : "s",
			  waives(plan, ", or share all the same with --set privacy_check=warn"));
}

static int refuse_few(const struct sl_plan *plan, struct sl_error *error)
{
	char why[256];
	const struct sl_privacy_refusal few = {
		.privacy = SL_PRIVACY_FEW, .learners = plan->learners, .c = plan->settings.tolerance};
	if (plan->settings.privacy_check == SL_PRIVACY_WARN)
		return SL_OK;
	sl_privacy_text(&few, why, sizeof why);
	return sl_err_set(error, SL_ERR_REFUSED, "%s%s", why,
			  waives(plan, "; --set privacy_check=warn shares all the same"));
}

int sl_launch_privacy_check(struct sl_plan *plan, struct sl_progress *progress, struct sl_error *error)
{
	struct check check = {.plan = plan};
	uint32_t c = plan->settings.tolerance;
	const struct sl_figures_request request = {
		.analysis = {.tolerance = c, .kappa_most = c + 1, .least = plan->quorum},
		.p = SL_P_MERSENNE31};
	if (sl_privacy_check(plan->learners, c + 1, c) != SL_PRIVACY_KEPT)
		return refuse_few(plan, error);
	int rc = sl_figures_open(&check.figures, &plan->schedule, &request);
	for (uint32_t step = 0; rc == SL_OK && step < plan->schedule.steps; step++)
		rc = check_step(&check, step, progress);
	sl_figures_close(&check.figures);
	return rc == SL_OK ? conclude(&check, progress, error)
			   : sl_err_set(error, rc, "the privacy check: %s", sl_err_text(rc));
}
