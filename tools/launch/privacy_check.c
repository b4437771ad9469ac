/* What the gate will say to the steps of a schedule, before a daemon starts (protocol 5, GATE). */
#include <stdio.h>
#include <stdlib.h>

#include "common/graph/connectivity.h"
#include "tools/launch/launch.h"
#include "tools/lib/schedule_graph.h"

#define WARNINGS_MOST 5u

struct privacy_check {
	struct sl_plan *plan;
	uint32_t c, refused, connected;
	struct sl_arena scratch;
};

static int analysis(struct privacy_check *privacy_check, uint32_t step, uint32_t *kappa, uint32_t *cut)
{
	struct sl_graph graph;
	sl_arena_reset(&privacy_check->scratch, 0);
	int rc = sl_schedule_graph(&privacy_check->plan->schedule, step, &graph, &privacy_check->scratch);
	return rc == SL_OK
		       ? sl_connectivity(&graph, privacy_check->c + 1, kappa, cut, &privacy_check->scratch)
		       : rc;
}

static void warn(const struct privacy_check *privacy_check, struct sl_progress *progress, uint32_t step,
		 uint32_t kappa, uint32_t weak)
{
	bool only_warns = privacy_check->plan->settings.privacy_check_warns;
	if (privacy_check->refused > WARNINGS_MOST)
		return;
	sl_progress_line(progress,
			 "warning: step %u tolerates c = %u, not %u: learner %u%s could single out others; "
			 "the gate %s (see starling topology show)",
			 step + 1, kappa - 1, privacy_check->c, weak + 1,
			 kappa > 1 ? " and others together" : "",
			 only_warns ? "only warns" : "will refuse it");
}

static int look_at_steps(struct privacy_check *privacy_check, struct sl_progress *progress,
			 struct sl_error *error)
{
	uint32_t kappa, *cut = calloc(privacy_check->c + 1, sizeof *cut);
	int rc = cut == NULL ? sl_err_set(error, SL_ERR_NOMEM, "out of memory") : SL_OK;
	for (uint32_t step = 0; rc == SL_OK && step < privacy_check->plan->schedule.steps; step++) {
		rc = analysis(privacy_check, step, &kappa, cut);
		if (rc != SL_OK || kappa == 0)
			continue; /* disconnected: that was said */
		privacy_check->connected++;
		if (kappa > privacy_check->c)
			continue;
		privacy_check->refused++;
		warn(privacy_check, progress, step, kappa, cut[0]);
	}
	free(cut);
	return rc;
}

static int conclude(const struct privacy_check *privacy_check, struct sl_progress *progress,
		    struct sl_error *error)
{
	if (privacy_check->refused > WARNINGS_MOST)
		sl_progress_line(progress, "warning: and %u more of the %u steps",
				 privacy_check->refused - WARNINGS_MOST, privacy_check->plan->schedule.steps);
	if (privacy_check->refused < privacy_check->connected || privacy_check->refused == 0 ||
	    privacy_check->plan->settings.privacy_check_warns)
		return SL_OK;
	return sl_err_set(
		error, SL_ERR_REFUSED,
		"no step of %s tolerates c = %u colluding learner%s, so the gate would refuse every round: "
		"starling topology repair adds edges; --set gate=warn shares all the same",
		privacy_check->plan->topology, privacy_check->c, privacy_check->c == 1 ? "" : "s");
}

static int check_few(const struct privacy_check *privacy_check, struct sl_error *error)
{
	if (privacy_check->plan->learners >= privacy_check->c + 2 ||
	    privacy_check->plan->settings.privacy_check_warns)
		return SL_OK;
	return sl_err_set(
		error, SL_ERR_REFUSED,
		"%u learners are too few for c = %u: the mean itself would tell c of them about the others; "
		"at least %u, or --set gate=warn to share all the same",
		privacy_check->plan->learners, privacy_check->c, privacy_check->c + 2);
}

int sl_privacy_check(struct sl_plan *plan, struct sl_progress *progress, struct sl_error *error)
{
	uint32_t n = plan->learners, edges = sl_schedule_graph_edges_most(&plan->schedule);
	size_t bytes = sl_schedule_graph_bytes(n, edges) + sl_connectivity_scratch(n, edges);
	struct privacy_check privacy_check = {.plan = plan, .c = plan->settings.tolerance};
	int rc = check_few(&privacy_check, error);
	if (rc != SL_OK || n < privacy_check.c + 2)
		return rc;
	void *memory = malloc(bytes);
	if (memory == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	sl_arena_init(&privacy_check.scratch, memory, bytes);
	rc = look_at_steps(&privacy_check, progress, error);
	free(memory);
	if (rc != SL_OK)
		return error->code != SL_OK
			       ? error->code
			       : sl_err_set(error, rc, "out of memory for the graphs of the schedule");
	return conclude(&privacy_check, progress, error);
}
