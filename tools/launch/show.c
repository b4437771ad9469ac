/* Where the learner that is furthest behind stands: a bar; in a pipe, a line at times. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/launch/state.h"

#define POLLED_MOST 16u /* status requests at a time: a hundred daemons have better to do */
#define TELL_MS 30000u	/* without a line about a round, before one says how far it is */
#define ASK_MS 25000u	/* .. before learners are asked for that */

static uint64_t untold_ms(const struct sl_launch *launch)
{
	return uv_now(&launch->loop) - launch->told_ms;
}

/* Ask some of the learners, others the next time; one whose log told of a wait, whether it still waits. */
void sl_launch_poll(struct sl_launch *launch)
{
	uint32_t n = launch->plan->learners, count = n < POLLED_MOST ? n : POLLED_MOST;
	bool wanted = launch->progress->live || sl_rows_pending(launch) || untold_ms(launch) >= ASK_MS;
	if (launch->was_up < n)
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct sl_learner *l = &launch->learners[(launch->polled + i) % n];
		if (wanted || l->waiting != NULL)
			sl_control_client_send(&l->control,
					       json_pack("{s:s, s:b}", "op", "status", "peers", 0));
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
	if (launch->progress->live)
		sl_progress_bar(launch->progress, &bar);
	else
		sl_progress_line(launch->progress, "round %u of %u: %s %.0f %%, %s", bar.round, bar.rounds,
				 bar.phase, floor(100 * bar.part), bar.note);
}

static void show_start(struct sl_launch *launch)
{
	uint32_t n = launch->plan->learners;
	struct sl_bar bar = {
		.round = launch->rounds.first + 1, .rounds = launch->rounds.most, .phase = "START"};
	bar.part = (double)launch->was_up / n;
	snprintf(bar.note, sizeof bar.note, "%u of %u are up", launch->was_up, n);
	sl_progress_bar(launch->progress, &bar);
}

void sl_launch_show(struct sl_launch *launch)
{
	bool all = launch->was_up == launch->plan->learners;
	if (launch->ending || (!launch->progress->live && (!all || untold_ms(launch) < TELL_MS)))
		return;
	launch->told_ms = uv_now(&launch->loop);
	if (all)
		show_run(launch);
	else
		show_start(launch);
}
