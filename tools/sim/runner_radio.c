/* Topology playback: the next step of the schedule, for all learners, when a round has its first commit. */
#include <string.h>

#include "common/base/bytes.h"
#include "tools/sim/runner_internal.h"

void swarm_radio_next(struct swarm *swarm)
{
	const struct sl_schedule *schedule = swarm->options.schedule;
	swarm->step_at = swarm->now;
	swarm->steps++;
	if (schedule == NULL)
		return;
	uint32_t step = (swarm->steps - 1) % schedule->steps;
	const struct sl_edge *edges = sl_schedule_edges(schedule, step);
	memset(swarm->ranges, 0, swarm->n * swarm->words * sizeof *swarm->ranges);
	for (size_t e = 0; e < sl_schedule_count(schedule, step); e++) {
		sl_bit_set(swarm->ranges + edges[e].a * swarm->words, edges[e].b);
		sl_bit_set(swarm->ranges + edges[e].b * swarm->words, edges[e].a);
	}
	for (uint32_t i = 0; i < swarm->n; i++)
		swarm_post(swarm, i, (struct swarm_mail){.kind = SWARM_RANGE});
}
