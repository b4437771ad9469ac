/* Topology playback: the next step of the schedule, for all learners, when a round has its first commit. */
#include <string.h>

#include "common/base/bytes.h"
#include "tools/sim/runner_internal.h"

void sl_runner_playback_next(struct sl_runner *runner)
{
	const struct sl_schedule *schedule = runner->options.schedule;
	runner->step_at = runner->now;
	runner->steps++;
	if (schedule == NULL)
		return;
	uint32_t step = (runner->steps - 1) % schedule->steps;
	const struct sl_edge *edges = sl_schedule_edges(schedule, step);
	memset(runner->ranges, 0, runner->n * runner->words * sizeof *runner->ranges);
	for (size_t e = 0; e < sl_schedule_count(schedule, step); e++) {
		sl_bit_set(runner->ranges + edges[e].a * runner->words, edges[e].b);
		sl_bit_set(runner->ranges + edges[e].b * runner->words, edges[e].a);
	}
	for (uint32_t i = 0; i < runner->n; i++)
		sl_runner_post(runner, i, (struct sl_runner_mail){.kind = SL_RUNNER_RANGE});
}
