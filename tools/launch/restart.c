/* Deaths and new starts. After its first death since a commit a learner is started again at once, later after
 * growing pauses. A learner that dies too often, or never comes up, ends the run. Kills of --chaos do not
 * count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/launch/state.h"

#define PAUSE_MS 250u
#define PAUSE_MOST_MS 5000u
#define EARLY_MOST 3u	  /* deaths in a row before it was up */
#define STATUS_UNUSABLE 2 /* of starlingd: configuration, roster or data are unusable */

/* 0, then 0.25 s doubling to 5 s. */
static uint64_t pause_after(uint32_t deaths)
{
	uint64_t pause = deaths < 2 ? 0 : PAUSE_MS << (deaths - 2);
	return pause < PAUSE_MOST_MS ? pause : PAUSE_MOST_MS;
}

static const char *ordinal(uint32_t n)
{
	static const char *const ends[] = {"th", "st", "nd", "rd"};
	return n % 10 > 3 || (n % 100 >= 11 && n % 100 <= 13) ? ends[0] : ends[n % 10];
}

static void say(const struct sl_learner *l, uint64_t pause_ms)
{
	char death[SL_ERROR_BYTES + 256], when[48] = "started again", by[48] = "";
	uint32_t start = l->starts + 1;
	sl_child_explain(l, false, death, sizeof death);
	if (pause_ms > 0)
		snprintf(when, sizeof when, "starts again in %g s", (double)pause_ms / 1000);
	if (l->killed > 0)
		snprintf(by, sizeof by, "chaos %u of %u: ", l->killed,
			 l->launch->plan->options.chaos + l->launch->plan->options.lose);
	sl_progress_line(l->launch->progress, "%s%s; %s (%u%s start)", by, death, when, start,
			 ordinal(start));
}

/* Return true, and print it, if the learner will be started again. Otherwise the run fails; `why` tells the
 * reason in addition to how the learner died, or is "". */
static bool start_again(struct sl_learner *learner, char *why, size_t size)
{
	struct sl_launch *launch = learner->launch;
	uint64_t now = uv_now(&launch->loop);
	*why = '\0';
	if (launch->plan->options.no_restart || learner->final ||
	    (learner->exit_signal == 0 && learner->exit_status == STATUS_UNUSABLE))
		return false;
	if (learner->killed == 0) {
		learner->deaths = learner->committed == learner->died_after ? learner->deaths + 1 : 1;
		learner->died_after = learner->committed;
		learner->early = learner->connected ? 0 : learner->early + 1;
	}
	if (learner->early >= EARLY_MOST)
		snprintf(why, size, " died %u times before it was up", learner->early);
	else if (learner->deaths >= SL_DEATHS_MOST)
		snprintf(why, size, " died %u times without a commit", learner->deaths);
	if (*why != '\0')
		return false;
	learner->again_ms = now + (learner->killed > 0 ? 0 : pause_after(learner->deaths));
	say(learner, learner->again_ms - now);
	return true;
}

/* Return true if the learner has ended with its privacy budget: it may have done so before it was connected.
 */
static bool has_spent(struct sl_learner *learner)
{
	sl_round round;
	char *text = sl_child_spent(learner, &round);
	if (text != NULL && round > 0)
		sl_records_spent(learner, round, text);
	free(text);
	return text != NULL && round > 0;
}

/* Start a learner again, or fail the run, if it has ended early and all its records are read. */
static void judge(struct sl_learner *learner)
{
	struct sl_launch *launch = learner->launch;
	char text[SL_ERROR_BYTES + 1024], why[64];
	bool heard_out = learner->control.state !=
			 SL_CONTROL_CLIENT_OPEN; /* its last records may still be on their way */
	bool in_order = learner->exit_status == 0 && learner->exit_signal == 0 &&
			learner->committed == launch->rounds.most;
	if (!learner->exited || !heard_out || in_order || learner->judged || launch->ending)
		return;
	learner->judged = true;
	if (learner->exit_status == 0 && learner->exit_signal == 0 && has_spent(learner))
		return;
	if (learner->lost) {
		sl_child_explain(learner, false, text, sizeof text);
		sl_progress_line(launch->progress, "lost for good: %s", text);
		for (uint32_t i = 0; launch->step > 0 && i < launch->plan->learners; i++)
			sl_playback_tell(launch, i); /* without it */
		return;
	}
	if (start_again(learner, why, sizeof why))
		return;
	sl_child_explain(learner, true, text, sizeof text);
	sl_launch_fail(launch, "%s%s%s%s", *why != '\0' ? learner->name : "", why, *why != '\0' ? ": " : "",
		       text);
}

static bool is_due(const struct sl_learner *l, uint64_t now)
{
	return l->again_ms != 0 && now >= l->again_ms && l->closed &&
	       l->control.state == SL_CONTROL_CLIENT_IDLE;
}

void sl_restart_tick(struct sl_launch *launch, uint64_t now)
{
	struct sl_error error = {0};
	for (uint32_t i = 0; i < launch->plan->learners && !launch->ending; i++) {
		struct sl_learner *l = &launch->learners[i];
		judge(l);
		if (!is_due(l, now))
			continue;
		l->again_ms = 0;
		launch->restarts++;
		if (sl_child_spawn(l, &error) != SL_OK)
			sl_launch_fail(launch, "%s", error.text);
	}
}

bool sl_restart_pending(const struct sl_launch *launch)
{
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		if (launch->learners[i].again_ms != 0)
			return true;
	return false;
}
