/* The kills of --chaos and --lose: SIGKILL to a random learner that is up, at random moments. Learner and
 * moment follow from the seed. A learner that is lost is not started again.
 *
 * The kills are spread over the rounds. Those of a round come at random within a time as long as the shortest
 * round so far, so that every phase is hit. Kills that a round was too short for come in the next round; in
 * the last one they come at once.
 */
#include <jansson.h>
#include <signal.h>

#include "common/base/random.h"
#include "tools/launch/state.h"

#define SPAN_FIRST_MS 500u /* of round 1, before any is measured */
#define SPAN_LEAST_MS 20u
#define AGAIN_MS 10u	   /* no learner was up */
#define STREAM 0x6b696c6cu /* other numbers than the topology draws from the same seed */

void sl_chaos_open(struct sl_launch *launch)
{
	launch->chaos = (struct sl_chaos){.span_ms = SPAN_FIRST_MS};
	launch->chaos.random = sl_random_seed(launch->plan->options.seed, STREAM, launch->plan->learners);
	uv_timer_init(&launch->loop, &launch->chaos.timer);
	launch->chaos.timer.data = launch;
}

void sl_chaos_close(struct sl_launch *launch)
{
	uv_close((uv_handle_t *)&launch->chaos.timer, NULL);
}

static bool is_up(const struct sl_learner *l)
{
	return l->spawned && !l->exited && l->connected && l->killed == 0;
}

static struct sl_learner *pick(struct sl_launch *launch)
{
	uint32_t n = launch->plan->learners, up = 0;
	for (uint32_t i = 0; i < n; i++)
		up += is_up(&launch->learners[i]);
	uint32_t wanted = up > 0 ? sl_random_below(&launch->chaos.random, up) : 0;
	for (uint32_t i = 0; i < n; i++)
		if (is_up(&launch->learners[i]) && wanted-- == 0)
			return &launch->learners[i];
	return NULL;
}

static uint32_t asked(const struct sl_launch *launch)
{
	return launch->plan->options.chaos + launch->plan->options.lose;
}

/* Return true if the kill of that number, from 1, is a loss: losses are spread evenly over the kills. */
static bool is_loss(const struct sl_launch *launch, uint32_t kill)
{
	uint64_t lose = launch->plan->options.lose, all = asked(launch);
	return kill * lose / all != (kill - 1) * lose / all;
}

/* Return the number of kills due by the end of the present round. The last round is for those that are late.
 * With losses, the last kill comes in the middle of the run. */
static uint32_t due(const struct sl_launch *launch)
{
	uint64_t of = launch->rounds.most > 1 ? launch->rounds.most - 1 : 1;
	of = launch->plan->options.lose > 0 ? (of + 1) / 2 : of;
	uint64_t round = launch->chaos.rounds + 1 < of ? launch->chaos.rounds + 1 : of;
	return (uint32_t)(asked(launch) * round / of);
}

static bool is_last(const struct sl_launch *launch)
{
	return launch->rounds.most > 1 &&
	       launch->chaos.rounds + 1 >= launch->rounds.most - launch->rounds.first;
}

static void on_moment(uv_timer_t *timer);

static void draw_next(struct sl_launch *launch)
{
	struct sl_chaos *chaos = &launch->chaos;
	uint32_t owed = due(launch) - chaos->kills;
	if (owed == 0)
		return;
	double span = is_last(launch) ? 0 : (double)chaos->span_ms;
	double most = 2.0 * span / (owed + 1); /* on average half of it, owed + 1 times */
	uv_timer_start(&chaos->timer, on_moment, (uint64_t)sl_random_in(&chaos->random, 0, most), 0);
}

static void on_moment(uv_timer_t *timer)
{
	struct sl_launch *launch = timer->data;
	struct sl_chaos *chaos = &launch->chaos;
	if (launch->ending)
		return;
	struct sl_learner *victim = pick(launch);
	if (victim == NULL || uv_process_kill(&victim->process, SIGKILL) != 0) {
		uv_timer_start(timer, on_moment, AGAIN_MS, 0);
		return;
	}
	victim->killed = ++chaos->kills;
	victim->lost = is_loss(launch, chaos->kills);
	chaos->last_ms = uv_now(&launch->loop);
	if (chaos->unanswered++ == 0)
		chaos->first_ms = chaos->last_ms;
	draw_next(launch);
}

void sl_chaos_begin(struct sl_launch *launch)
{
	launch->chaos.round_ms = uv_now(&launch->loop);
	draw_next(launch);
}

/* Take the time from the kills since the last commit. */
static void answer(struct sl_chaos *chaos, uint64_t now)
{
	if (chaos->unanswered == 0)
		return;
	if (now - chaos->first_ms > chaos->longest_ms)
		chaos->longest_ms = now - chaos->first_ms;
	chaos->after_ms = now - chaos->last_ms;
	chaos->unanswered = 0;
}

void sl_chaos_committed(struct sl_launch *launch)
{
	struct sl_chaos *chaos = &launch->chaos;
	uint64_t now = uv_now(&launch->loop), took = now - chaos->round_ms;
	if (took < chaos->span_ms)
		chaos->span_ms = took > SPAN_LEAST_MS ? took : SPAN_LEAST_MS;
	chaos->round_ms = now;
	chaos->rounds++;
	answer(chaos, now);
	if (!launch->ending)
		draw_next(launch); /* a moment drawn for a longer round would miss many short ones */
}

void sl_chaos_say(struct sl_launch *launch)
{
	const struct sl_chaos *chaos = &launch->chaos;
	if (asked(launch) == 0)
		return;
	if (chaos->kills < asked(launch))
		sl_progress_line(launch->progress, "chaos: %u of %u kills, then the run was over",
				 chaos->kills, asked(launch));
	else if (chaos->unanswered > 0)
		sl_progress_line(launch->progress, "chaos: %u kills, the last one after the last commit",
				 chaos->kills);
	else
		sl_progress_line(launch->progress,
				 "chaos: %u kills; the next commit came %.1f s after the last one",
				 chaos->kills, (double)chaos->after_ms / 1000);
}

json_t *sl_chaos_json(const struct sl_launch *launch)
{
	const struct sl_chaos *chaos = &launch->chaos;
	json_t *lost = json_array();
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		if (launch->learners[i].lost)
			json_array_append_new(lost, json_integer(i + 1));
	return json_pack("{s:I, s:I, s:o, s:o, s:f}", "asked", (json_int_t)asked(launch), "kills",
			 (json_int_t)chaos->kills, "lost", lost, "commit_after_last_s",
			 chaos->unanswered > 0 ? json_null() : json_real((double)chaos->after_ms / 1000),
			 "longest_s", (double)chaos->longest_ms / 1000);
}
