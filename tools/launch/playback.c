/* Topology playback: play the schedule, one step per committed round.
 *
 * A step that leads nowhere is replaced. Its clock runs only while every learner looks for a view: training
 * takes as long as it takes, and an attempt that has a view either commits or fails by the daemons' own
 * deadlines.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tools/launch/launch.h"

#define BARREN_LEAST                                                                                         \
	3u /* a schedule of one step gets this many chances: an attempt may fail for passing reasons */

static uint32_t index_of(const struct sl_launch *launch, uint32_t step)
{
	return (step - 1) % launch->plan->schedule.steps;
}

/* Every learner's list for a step; json arrays, malloced. NULL: out of memory. */
static json_t **make_lists(const struct sl_schedule *schedule, uint32_t step)
{
	json_t **lists = calloc(schedule->learners, sizeof *lists);
	const struct sl_edge *edges = sl_schedule_edges(schedule, step);
	size_t count = sl_schedule_count(schedule, step);
	for (uint32_t i = 0; lists != NULL && i < schedule->learners; i++)
		lists[i] = json_array();
	for (size_t e = 0; lists != NULL && e < count; e++) {
		json_array_append_new(lists[edges[e].a], json_integer(edges[e].b + 1));
		json_array_append_new(lists[edges[e].b], json_integer(edges[e].a + 1));
	}
	return lists;
}

static void send_range(struct sl_learner *l, uint32_t step, json_t *peers)
{
	sl_control_client_send(&l->control, json_pack("{s:s, s:I, s:o}", "op", "range", "step",
						      (json_int_t)step, "peers", peers));
}

void sl_playback_next(struct sl_launch *launch)
{
	launch->step++;
	launch->idle_s = 0;
	launch->reason[0] = '\0';
	sl_resume_write(launch);
	json_t **lists = make_lists(&launch->plan->schedule, index_of(launch, launch->step));
	if (lists == NULL) {
		sl_launch_fail(launch, "out of memory");
		return;
	}
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		send_range(&launch->learners[i], launch->step, lists[i]);
	free(lists);
}

void sl_playback_tell(struct sl_launch *launch, uint32_t index)
{
	const struct sl_schedule *schedule = &launch->plan->schedule;
	uint32_t step = index_of(launch, launch->step);
	const struct sl_edge *edges = sl_schedule_edges(schedule, step);
	size_t count = sl_schedule_count(schedule, step);
	json_t *peers = json_array();
	for (size_t e = 0; e < count; e++)
		if (edges[e].a == index || edges[e].b == index)
			json_array_append_new(
				peers, json_integer((edges[e].a == index ? edges[e].b : edges[e].a) + 1));
	send_range(&launch->learners[index], launch->step, peers);
}

/* Nobody trains or works in a view; who has committed the last round does neither. */
static bool all_seek(const struct sl_launch *launch)
{
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		if (launch->learners[i].activity != SL_SEEKING &&
		    launch->learners[i].committed < launch->rounds.most)
			return false;
	return true;
}

static void describe_step(const struct sl_launch *launch, char *text, size_t size)
{
	const struct sl_schedule *schedule = &launch->plan->schedule;
	uint32_t step = index_of(launch, launch->step);
	struct sl_step_parts parts = {1, 0};
	sl_schedule_parts(schedule, step, &parts);
	snprintf(text, size, "step %u%s", launch->step, parts.parts > 1 ? " (disconnected)" : "");
}

void sl_playback_tick(struct sl_launch *launch, double elapsed_s)
{
	char step[64];
	uint32_t steps = launch->plan->schedule.steps;
	const char *reason = launch->reason[0] != '\0' ? launch->reason : "no attempt has come to anything";
	if (launch->greeted < launch->plan->learners || !all_seek(launch))
		return;
	launch->idle_s += elapsed_s;
	if (launch->idle_s < launch->plan->options.step_s)
		return;
	describe_step(launch, step, sizeof step);
	sl_progress_line(launch->progress, "%s passed after %g s without a commit: %s", step,
			 launch->plan->options.step_s, reason);
	if (++launch->barren >= (steps > BARREN_LEAST ? steps : BARREN_LEAST))
		sl_launch_fail(launch, "no round committed in %u steps, the whole schedule: %s",
			       launch->barren, reason);
	else
		sl_playback_next(launch);
}
