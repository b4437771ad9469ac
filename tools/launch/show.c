/* The bar: where the learner that is furthest behind stands. */
#include <stdio.h>
#include <string.h>

#include "tools/launch/launch.h"

#define POLLED_MOST 16u /* status requests at a time: a hundred daemons have better to do */

/* Asks some of the learners, others the next time. */
void sl_launch_poll(struct sl_launch *launch)
{
	uint32_t n = launch->plan->learners, count = n < POLLED_MOST ? n : POLLED_MOST;
	if ((!launch->progress->live && !sl_rows_pending(launch)) || launch->greeted < n)
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct sl_learner *l = &launch->learners[(launch->polled + i) % n];
		sl_control_client_send(&l->control, json_pack("{s:s, s:b}", "op", "status", "peers", 0));
	}
	launch->polled = (launch->polled + count) % n;
}

static bool behind(const struct sl_learner *a, const struct sl_learner *b)
{
	return a->round != b->round ? a->round < b->round : a->phase < b->phase;
}

static void show_run(struct sl_launch *launch)
{
	const struct sl_learner *last = &launch->learners[0];
	uint32_t n = launch->plan->learners, past = 0;
	double part = 0;
	for (uint32_t i = 1; i < n; i++)
		if (behind(&launch->learners[i], last))
			last = &launch->learners[i];
	for (uint32_t i = 0; i < n; i++) {
		bool ahead = behind(last, &launch->learners[i]);
		past += ahead;
		part += ahead ? 1 : launch->learners[i].part;
	}
	struct sl_bar bar = {.round = last->round > 0 ? last->round : 1,
			     .rounds = launch->rounds.most,
			     .phase = sl_phase_name(last->phase),
			     .part = part / n,
			     .left_s =
				     sl_progress_left_s(&launch->pace, launch->handed, launch->rounds.most)};
	if (!sl_wait_note(launch, bar.note, sizeof bar.note))
		snprintf(bar.note, sizeof bar.note, "%u of %u past it", past, n);
	sl_progress_bar(launch->progress, &bar);
}

static void show_start(struct sl_launch *launch)
{
	uint32_t n = launch->plan->learners;
	struct sl_bar bar = {
		.round = launch->rounds.first + 1, .rounds = launch->rounds.most, .phase = "START"};
	bar.part = (double)launch->greeted / n;
	snprintf(bar.note, sizeof bar.note, "%u of %u are up", launch->greeted, n);
	sl_progress_bar(launch->progress, &bar);
}

void sl_launch_show(struct sl_launch *launch)
{
	if (!launch->progress->live || launch->ending)
		return;
	if (launch->greeted < launch->plan->learners)
		show_start(launch);
	else
		show_run(launch);
}
