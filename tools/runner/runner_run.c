/* Building, sweeps, and the clock. */
#include "tools/runner/runner.h"

#include <malloc.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/setup/core_config.h"
#include "tools/runner/runner_internal.h"

#define STEP_MS 30000u /* of the runner's clock: a step of the schedule without a commit gives way */
#define MMAP_THRESHOLD                                                                                       \
	(128 << 10)	  /* fixed: most slots of a state file are never touched, and then take no memory */
#define TOP_PAD (8 << 20) /* packets of a sweep are freed and allocated again in the next one */
#define BARREN_LEAST 3u	  /* a schedule of one step gets this many chances, as with starling launch */

/* --- building --- */

int sl_runner_settings(const char *const *set, size_t count, const struct sl_schedule *schedule,
		       struct sl_settings *settings, struct sl_error *error)
{
	char degree[32];
	const char **all = calloc(count + 3, sizeof *all);
	if (all == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	size_t own = 0;
	if (schedule != NULL) {
		snprintf(degree, sizeof degree, "max_degree=%u", sl_schedule_degree_max(schedule));
		all[own++] = degree;
		all[own++] = "neighbours=control";
	}
	all[own++] = "partition=iid"; /* the learners have one data set */
	memcpy(all + own, set, count * sizeof *set);
	int rc = sl_settings_assign(all, own + count, settings, error);
	free(all);
	return rc;
}

static int build_learner(struct sl_runner *runner, uint32_t i, uint32_t quorum)
{
	const struct sl_runner_options *o = &runner->options;
	struct sl_runner_learner *l = &runner->learners[i];
	struct sl_core_config config = {
		.self = i, .roster_size = runner->n, .ids = runner->ids, .incarnation = 1};
	sl_core_config_set(&config, o->settings, o->parameters, 0, quorum); /* one program: one model */
	config.range_by_control = o->schedule != NULL;
	int rc = sl_hosted_open(&l->host, &config, NULL, o->seed * UINT64_C(0xd1342543de82ef95) + i);
	l->said_end = &l->said;
	l->up = calloc(runner->words, sizeof *l->up);
	if (rc != SL_OK || l->up == NULL)
		return SL_ERR_NOMEM;
	l->host.workspace.clamp = o->settings->clipping == SL_CLIPPING_CLAMP;
	l->host.workspace.zeros_allowed = o->settings->rounded_to_zero == SL_ROUNDED_WARN;
	if (o->initial != NULL)
		memcpy(l->host.workspace.committed, o->initial, o->parameters * sizeof *o->initial);
	return sl_hosted_start(&l->host);
}

static int check(const struct sl_runner_options *o, struct sl_error *error)
{
	if (o->learners < 2 || o->learners > SL_LEARNERS_MAX)
		return sl_err_set(error, SL_ERR_RANGE, "%u learners: from 2 to %u are possible", o->learners,
				  SL_LEARNERS_MAX);
	if (o->schedule != NULL && o->schedule->learners != o->learners)
		return sl_err_set(error, SL_ERR_RANGE, "%u learners, and a schedule of %u", o->learners,
				  o->schedule->learners);
	if (o->parameters < 1 || o->parameters > SL_PARAMETERS_MAX)
		return sl_err_set(error, SL_ERR_RANGE, "%zu parameters: from 1 to %u are possible",
				  o->parameters, SL_PARAMETERS_MAX);
	if (o->coordinate_count > SL_RUNNER_COORDINATES_MAX)
		return sl_err_set(error, SL_ERR_RANGE, "%u coordinates: at most %u", o->coordinate_count,
				  SL_RUNNER_COORDINATES_MAX);
	return SL_OK;
}

static int build(struct sl_runner *runner, uint32_t quorum, struct sl_error *error)
{
	uint32_t n = runner->n;
	runner->ids = calloc(n, sizeof *runner->ids);
	runner->learners = calloc(n, sizeof *runner->learners);
	runner->ranges = calloc(n * runner->words, sizeof *runner->ranges);
	runner->todo = calloc(n, sizeof *runner->todo);
	if (runner->todo == NULL || runner->ids == NULL || runner->learners == NULL || runner->ranges == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	for (uint32_t i = 0; i < n; i++)
		runner->ids[i] = i + 1;
	for (uint32_t i = 0; i < n; i++)
		if (build_learner(runner, i, quorum) != SL_OK)
			return sl_err_set(error, SL_ERR_NOMEM, "out of memory at learner %u of %u", i + 1, n);
	return SL_OK;
}

int sl_runner_open(const struct sl_runner_options *options, struct sl_runner **runner, struct sl_error *error)
{
	uint32_t quorum = 0;
	*runner = NULL;
	int rc = check(options, error);
	if (rc == SL_OK)
		rc = sl_settings_quorum(options->settings, options->learners, &quorum, error);
	if (rc != SL_OK)
		return rc;
	if (sodium_init() < 0)
		abort();
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	mallopt(M_TOP_PAD, TOP_PAD);
	struct sl_runner *s = calloc(1, sizeof *s);
	if (s == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	s->options = *options;
	s->n = options->learners;
	s->words = sl_bit_words(s->n);
	s->analysis_code = SL_PENDING; /* of no view */
	rc = sl_runner_workers_open(s);
	rc = rc == SL_OK ? build(s, quorum, error) : sl_err_set(error, rc, "cannot start a thread");
	if (rc == SL_OK)
		*runner = s;
	else
		sl_runner_close(s);
	return rc;
}

/* --- closing --- */

static void close_learner(struct sl_runner *runner, uint32_t i)
{
	struct sl_runner_learner *l = &runner->learners[i];
	if (!l->host.stopped && l->host.core != NULL)
		sl_packet_give_back(sl_core_held(l->host.core));
	sl_runner_drop(runner, i);
	sl_runner_said_free(l);
	sl_hosted_close(&l->host);
	free(l->inbox);
	free(l->up);
}

void sl_runner_close(struct sl_runner *runner)
{
	if (runner == NULL)
		return;
	for (uint32_t i = 0; runner->learners != NULL && i < runner->n; i++)
		close_learner(runner, i);
	sl_runner_workers_close(runner);
	sl_runner_sums_forget(runner, UINT32_MAX);
	free(runner->todo);
	free(runner->ids);
	free(runner->learners);
	free(runner->ranges);
	free(runner);
}

/* --- the clock --- */

/* Begin the next step of the schedule, for all learners. */
static void play_next(struct sl_runner *runner)
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
		sl_runner_post(runner, i, (struct sl_runner_mail){.kind = SL_EVENT_RANGE});
}

static void begin(struct sl_runner *runner)
{
	for (uint32_t i = 0; i < runner->n; i++)
		sl_runner_post(runner, i, (struct sl_runner_mail){.kind = SL_EVENT_START});
	play_next(runner);
}

static bool idle(const struct sl_runner *runner)
{
	for (uint32_t i = 0; i < runner->n; i++)
		if (sl_runner_has_to_do(&runner->learners[i]))
			return false;
	return true;
}

static bool over(const struct sl_runner *runner)
{
	for (uint32_t i = 0; i < runner->n; i++)
		if (!runner->learners[i].host.stopped)
			return false;
	return true;
}

/* Go on to the next step of the schedule after one without a commit; fail after a whole schedule without one.
 */
static int give_way(struct sl_runner *runner)
{
	const struct sl_schedule *schedule = runner->options.schedule;
	uint32_t most = schedule != NULL && schedule->steps > BARREN_LEAST ? schedule->steps : BARREN_LEAST;
	if (++runner->barren >= most)
		return sl_err_set(&runner->error, SL_ERR_REFUSED, "no round committed in %u steps",
				  runner->barren);
	play_next(runner);
	return SL_PENDING;
}

/* Advance the clock to the next deadline: no learner has anything to do. */
static int wait(struct sl_runner *runner)
{
	sl_ms due = SL_NEVER, limit = runner->step_at + STEP_MS;
	for (uint32_t i = 0; i < runner->n; i++)
		due = runner->learners[i].due < due ? runner->learners[i].due : due;
	if (due > limit) {
		runner->now = limit > runner->now ? limit : runner->now;
		return runner->first < runner->options.settings->rounds ? give_way(runner) : SL_OK;
	}
	runner->now = due > runner->now ? due : runner->now;
	for (uint32_t i = 0; i < runner->n; i++)
		if (runner->learners[i].due <= runner->now)
			sl_runner_post(runner, i, (struct sl_runner_mail){.kind = SL_EVENT_DEADLINE});
	return SL_PENDING;
}

/* The topology playback's next step comes with the first commit of a round. */
static void heed_commits(struct sl_runner *runner)
{
	sl_round latest = 0;
	for (uint32_t i = 0; i < runner->n; i++)
		latest = runner->learners[i].host.committed > latest ? runner->learners[i].host.committed
								     : latest;
	if (latest == runner->first)
		return;
	runner->first = latest;
	runner->barren = 0;
	sl_runner_sums_forget(runner, latest > 1 ? latest - 2 : 0);
	if (latest < runner->options.settings->rounds)
		play_next(runner);
}

int sl_runner_step(struct sl_runner *runner, struct sl_error *error)
{
	int rc = SL_PENDING;
	if (runner->steps == 0)
		begin(runner);
	else if (idle(runner))
		rc = wait(runner);
	if (rc == SL_PENDING) {
		sl_runner_sweep(runner);
		sl_runner_deliver(runner);
		sl_runner_tick(&runner->workers[0], &runner->deliver_s);
		heed_commits(runner);
	}
	if (runner->error.code != SL_OK) {
		if (error != NULL)
			*error = runner->error;
		return runner->error.code;
	}
	return over(runner) ? SL_OK : rc;
}

/* --- figures --- */

uint64_t sl_runner_bytes(const struct sl_runner *runner, uint32_t i)
{
	return runner->learners[i].bytes;
}

void sl_runner_figures(const struct sl_runner *runner, struct sl_runner_figures *figures)
{
	*figures = (struct sl_runner_figures){.committed = SL_ROUNDS_MAX, .t = SL_ROUNDS_MAX + 1};
	figures->deliver_s = runner->deliver_s;
	for (uint32_t w = 0; w < runner->pool.team.workers; w++)
		for (int p = 0; p < SL_PHASE_COUNT; p++)
			figures->seconds[p] += runner->workers[w].seconds[p];
	for (uint32_t i = 0; i < runner->n; i++) {
		struct sl_core_status s;
		sl_core_status(runner->learners[i].host.core, &s);
		if (s.committed < figures->committed)
			figures->committed = s.committed;
		if (s.t > figures->t || (s.t == figures->t && s.phase >= figures->phase))
			continue;
		figures->t = s.t;
		figures->phase = s.phase;
		figures->permille = s.permille;
	}
}
