/* What the gate will say to the steps of a schedule, before a daemon starts (protocol 5, GATE). */
#include <stdio.h>
#include <stdlib.h>

#include "common/graph/connectivity.h"
#include "tools/launch/launch.h"
#include "tools/lib/schedule_graph.h"

#define WARNINGS_MOST 5u

struct gate {
	struct sl_plan *plan;
	uint32_t c, refused, connected;
	struct sl_arena scratch;
};

static int survey(struct gate *gate, uint32_t step, uint32_t *kappa, uint32_t *cut)
{
	struct sl_graph graph;
	sl_arena_reset(&gate->scratch, 0);
	int rc = sl_step_graph(&gate->plan->schedule, step, &graph, &gate->scratch);
	return rc == SL_OK ? sl_connectivity(&graph, gate->c + 1, kappa, cut, &gate->scratch) : rc;
}

static void warn(const struct gate *gate, struct sl_progress *progress, uint32_t step, uint32_t kappa, uint32_t weak)
{
	bool only_warns = gate->plan->settings.privacy_check == SL_PRIVACY_WARN;
	if (gate->refused > WARNINGS_MOST)
		return;
	sl_progress_line(progress,
			 "warning: step %u tolerates c = %u, not %u: learner %u%s could single out others; "
			 "the gate %s (see starling topology show)",
			 step + 1, kappa - 1, gate->c, weak + 1, kappa > 1 ? " and others together" : "",
			 only_warns ? "only warns" : "will refuse it");
}

static int look_at_steps(struct gate *gate, struct sl_progress *progress, struct sl_error *error)
{
	uint32_t kappa, *cut = calloc(gate->c + 1, sizeof *cut);
	int rc = cut == NULL ? sl_fail(error, SL_ERR_NOMEM, "out of memory") : SL_OK;
	for (uint32_t step = 0; rc == SL_OK && step < gate->plan->schedule.steps; step++) {
		rc = survey(gate, step, &kappa, cut);
		if (rc != SL_OK || kappa == 0)
			continue; /* disconnected: that was said */
		gate->connected++;
		if (kappa > gate->c)
			continue;
		gate->refused++;
		warn(gate, progress, step, kappa, cut[0]);
	}
	free(cut);
	return rc;
}

static int conclude(const struct gate *gate, struct sl_progress *progress, struct sl_error *error)
{
	if (gate->refused > WARNINGS_MOST)
		sl_progress_line(progress, "warning: and %u more of the %u steps", gate->refused - WARNINGS_MOST,
				 gate->plan->schedule.steps);
	if (gate->refused < gate->connected || gate->refused == 0 || gate->plan->settings.privacy_check == SL_PRIVACY_WARN)
		return SL_OK;
	return sl_fail(error, SL_ERR_REFUSED,
		       "no step of %s tolerates c = %u colluding learner%s, so the gate would refuse every round: "
		       "starling topology repair adds edges; --set privacy_check=warn shares all the same",
		       gate->plan->topology, gate->c, gate->c == 1 ? "" : "s");
}

static int check_few(const struct gate *gate, struct sl_error *error)
{
	if (gate->plan->learners >= gate->c + 2 || gate->plan->settings.privacy_check == SL_PRIVACY_WARN)
		return SL_OK;
	return sl_fail(error, SL_ERR_REFUSED,
		       "%u learners are too few for c = %u: the mean itself would tell c of them about the others; "
		       "at least %u, or --set privacy_check=warn to share all the same",
		       gate->plan->learners, gate->c, gate->c + 2);
}

int sl_plan_gate(struct sl_plan *plan, struct sl_progress *progress, struct sl_error *error)
{
	uint32_t n = plan->learners, edges = sl_step_edges_most(&plan->schedule);
	size_t bytes = sl_step_bytes(n, edges) + sl_connectivity_scratch(n, edges);
	struct gate gate = {.plan = plan, .c = plan->settings.tolerance};
	int rc = check_few(&gate, error);
	if (rc != SL_OK || n < gate.c + 2)
		return rc;
	void *memory = malloc(bytes);
	if (memory == NULL)
		return sl_fail(error, SL_ERR_NOMEM, "out of memory");
	sl_arena_init(&gate.scratch, memory, bytes);
	rc = look_at_steps(&gate, progress, error);
	free(memory);
	if (rc != SL_OK)
		return error->code != SL_OK ? error->code : sl_fail(error, rc, "out of memory for the graphs of the schedule");
	return conclude(&gate, progress, error);
}
