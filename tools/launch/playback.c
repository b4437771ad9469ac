/* Topology playback: play the schedule, one step for each committed round.
 *
 * A step in which no round commits is replaced. Its clock runs only while every learner looks for a view:
 * training may take any time, and an attempt that has a view commits or fails by the deadlines of the
 * daemons.
 */
#include <stdio.h>

#include "tools/launch/state.h"

/* A schedule of one step is played so often before the run fails: an attempt may fail for passing reasons. */
#define BARREN_LEAST 3u

static uint32_t index_of(const struct sl_launch *launch, uint32_t step)
{
	return (step - 1) % launch->plan->schedule.steps;
}

void sl_playback_tell(struct sl_launch *launch, uint32_t index)
{
	const struct sl_schedule *schedule = &launch->plan->schedule;
	uint32_t step = index_of(launch, launch->step);
	const struct sl_edge *edges = sl_schedule_edges(schedule, step);
	size_t count = sl_schedule_count(schedule, step);
	json_t *peers = json_array();
	for (size_t e = 0; e < count; e++) {
		uint32_t other = edges[e].a == index ? edges[e].b : edges[e].a;
		if ((edges[e].a == index || edges[e].b == index) && !launch->learners[other].lost)
			json_array_append_new(peers, json_integer(other + 1));
	}
	sl_control_client_send(&launch->learners[index].control,
			       json_pack("{s:s, s:I, s:o}", "op", "range", "step", (json_int_t)launch->step,
					 "peers", peers));
}

/* Send the next step to all learners. */
static void next(struct sl_launch *launch)
{
	launch->step++;
	launch->idle_s = 0;
	launch->reason[0] = '\0';
	sl_progress_file_write(launch);
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		sl_playback_tell(launch, i);
}

void sl_playback_committed(struct sl_launch *launch, struct sl_round_row *row)
{
	if (row->step == 0)
		row->step = launch->step;
	row->first_ms = uv_now(&launch->loop);
	if (row->round <= launch->plan->resume.committed)
		return; /* committed under an earlier launch */
	launch->barren = 0;
	sl_chaos_committed(launch);
	if (row->round < launch->rounds.most)
		next(launch);
}

/* Return true if some learner has rounds to come, and none of these trains or works in a view. */
static bool all_seek(const struct sl_launch *launch)
{
	bool any = false;
	for (uint32_t i = 0; i < launch->plan->learners; i++) {
		const struct sl_learner *l = &launch->learners[i];
		if (l->lost || l->committed >= launch->rounds.most)
			continue;
		if (l->activity != SL_SEEKING)
			return false;
		any = true;
	}
	return any;
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
	if (launch->was_up < launch->plan->learners || !all_seek(launch))
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
		next(launch);
}
