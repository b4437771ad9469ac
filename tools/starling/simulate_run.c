#include "tools/starling/simulate_run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "common/model/trainer.h"
#include "common/wire/codec.h"
#include "daemon/runtime/pool.h"
#include "daemon/runtime/process_usage.h"

#define SHOW_S 0.3 /* the bar moves about three times a second */

static double now_s(void)
{
	return 1e-9 * (double)uv_hrtime();
}

/* --- training: each learner has its own images, as a daemon would --- */

static int train(void *context, struct sl_runner_training *training, struct sl_error *error)
{
	struct sl_simulation *s = context;
	struct sl_trainer *trainer = s->trainers[training->learner];
	struct sl_training result;
	uint64_t draw = (UINT64_C(1) << 40) + training->draw; /* that of a daemon in its first life */
	memcpy(training->model, training->committed, s->plan.n * sizeof *training->model);
	int rc = trainer->ops->train(trainer, &(struct sl_training_request){.draw = draw}, training->model,
				     &result, error);
	if (rc != SL_OK)
		return sl_err_wrap(error, "%s", s->roster.members[training->learner].name);
	training->weight = s->plan.settings.weighting == SL_WEIGHTING_SAMPLES ? result.samples : 1;
	s->learners[training->learner].train_s = result.seconds;
	return sl_simulate_trained(s, training, error);
}

static int open_trainers(struct sl_simulation *s, struct sl_error *error)
{
	uint32_t n = s->plan.learners;
	s->trainers = calloc(n, sizeof *s->trainers);
	s->initial = calloc(s->plan.n, sizeof *s->initial);
	if (s->trainers == NULL || s->initial == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	for (uint32_t i = 0; i < n; i++) {
		int rc = sl_trainer_open(&s->plan.settings, i, n, &s->trainers[i], error);
		if (rc != SL_OK)
			return rc;
	}
	s->trainers[0]->ops->initial(s->trainers[0], s->initial);
	return sl_trainer_evaluate(s->trainers[0], s->initial, &s->mse_initial, error);
}

/* --- before it runs --- */

static int load_settings(struct sl_simulation *s, struct sl_error *error)
{
	const struct sl_launch_options *o = &s->plan.options;
	char rounds[32], seed[40], data[SL_PATH_BYTES + 8];
	const char **set = calloc(o->sets + 3, sizeof *set);
	if (set == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	snprintf(rounds, sizeof rounds, "rounds=%u", o->rounds);
	snprintf(seed, sizeof seed, "seed=%llu", (unsigned long long)o->seed);
	snprintf(data, sizeof data, "data=%.*s", (int)SL_PATH_BYTES, o->data);
	set[0] = rounds;
	set[1] = seed;
	set[2] = data;
	for (size_t i = 0; i < o->sets; i++)
		set[3 + i] = o->set[i];
	int rc = sl_runner_settings(set, o->sets + 3, &s->plan.schedule, &s->plan.settings, error);
	free(set);
	return rc;
}

/* Names as a run folder has them. */
static int name_learners(struct sl_simulation *s, struct sl_error *error)
{
	uint32_t n = s->plan.learners;
	struct sl_run_folder folder = {.learners = n};
	s->learners = calloc(n, sizeof *s->learners);
	s->roster = (struct sl_roster){.members = calloc(n, sizeof *s->roster.members), .size = n};
	if (s->learners == NULL || s->roster.members == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	for (uint32_t i = 0; i < n; i++) {
		s->roster.members[i].id = i + 1;
		sl_run_folder_learner_name(&folder, i, s->roster.members[i].name);
	}
	return SL_OK;
}

static int open_runner(struct sl_simulation *s, struct sl_error *error)
{
	struct sl_runner_options options = {.learners = s->plan.learners,
					    .settings = &s->plan.settings,
					    .schedule = &s->plan.schedule,
					    .parameters = s->plan.n,
					    .initial = s->initial,
					    .seed = s->plan.options.seed,
					    .verify = s->plan.options.verify,
					    .workers = sl_pool_processors(),
					    .frame_bytes = sl_codec_bytes,
					    .train = train,
					    .committed = sl_simulate_committed,
					    .coordinates = s->options->coordinates,
					    .coordinate_count = s->options->coordinate_count,
					    .sampled =
						    s->options->states != NULL ? sl_simulate_sampled : NULL,
					    .reported = sl_simulate_reported,
					    .context = s};
	return sl_runner_open(&options, &s->runner, error);
}

/* Last of all: what stood in the file is gone then. */
static int open_outputs(struct sl_simulation *s, struct sl_error *error)
{
	const struct sl_simulation_options *o = s->options;
	int rc = sl_simulate_trace_open(s, error);
	if (rc != SL_OK)
		return rc;
	s->save = o->save;
	s->save_made = o->save != NULL && mkdir(o->save, 0777) == 0;
	if (o->save != NULL && access(o->save, W_OK | X_OK) != 0)
		return sl_err_set(error, SL_ERR_IO, "--save %s: %s", o->save, strerror(errno));
	if (o->csv == NULL)
		return SL_OK;
	s->csv = fopen(o->csv, "we");
	return s->csv != NULL ? SL_OK : sl_err_set(error, SL_ERR_IO, "--csv %s: %s", o->csv, strerror(errno));
}

int sl_simulate_open(struct sl_simulation *s, const struct sl_simulation_options *options,
		     struct sl_progress *progress, struct sl_error *error)
{
	*s = (struct sl_simulation){.options = options, .progress = progress};
	int rc = sl_plan_begin(&s->plan, &options->plan, error);
	if (rc == SL_OK)
		rc = load_settings(s, error);
	if (rc == SL_OK && s->plan.settings.dp != SL_DP_USE_OFF)
		rc = sl_err_set(
			error, SL_ERR_INVALID,
			"--set dp: a simulation draws no secret noise; use starling launch, or starling "
			"dp plan");
	if (rc == SL_OK)
		rc = sl_plan_check(&s->plan, progress, error);
	if (rc == SL_OK)
		rc = name_learners(s, error);
	if (rc == SL_OK)
		rc = open_trainers(s, error);
	if (rc == SL_OK)
		rc = open_runner(s, error);
	if (rc == SL_OK)
		rc = open_outputs(s, error);
	if (rc != SL_OK)
		sl_simulate_close(s);
	else
		sl_round_table_init(&s->rounds, s->plan.learners, s->plan.settings.rounds);
	return rc;
}

void sl_simulate_close(struct sl_simulation *s)
{
	sl_runner_close(s->runner);
	for (uint32_t i = 0; s->trainers != NULL && i < s->plan.learners; i++)
		if (s->trainers[i] != NULL)
			s->trainers[i]->ops->close(s->trainers[i]);
	if (s->csv != NULL)
		fclose(s->csv);
	if (s->states != NULL)
		fclose(s->states);
	if (s->save_made && s->save != NULL)
		rmdir(s->save);
	sl_round_table_close(&s->rounds);
	free(s->trainers);
	free(s->initial);
	free(s->learners);
	free(s->roster.members);
	sl_plan_close(&s->plan);
}

/* --- while it runs --- */

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	caught = number;
}

/* A second one ends the program at once. */
static void watch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &action, NULL);
}

static void show(struct sl_simulation *s)
{
	struct sl_runner_figures figures;
	sl_runner_figures(s->runner, &figures);
	struct sl_bar bar = {.round = figures.t < s->rounds.most ? figures.t : s->rounds.most,
			     .rounds = s->rounds.most,
			     .phase = sl_phase_name(figures.phase),
			     .part = figures.permille / 1000.0,
			     .left_s = sl_progress_left_s(&s->pace, s->handed, s->rounds.most)};
	snprintf(bar.note, sizeof bar.note, "%u learners", s->plan.learners);
	sl_progress_bar(s->progress, &bar);
}

int sl_simulate_run(struct sl_simulation *s)
{
	double shown = 0;
	int rc = SL_PENDING;
	watch_signals();
	s->begun_s = now_s();
	s->cpu_s = sl_process_usage_cpu_s();
	sl_progress_header(s->progress);
	while (rc == SL_PENDING && caught == 0) {
		rc = sl_runner_step(s->runner, &s->error);
		sl_simulate_rows(s, false);
		if (!s->progress->live || now_s() - shown < SHOW_S)
			continue;
		show(s);
		shown = now_s();
	}
	s->signal = rc == SL_PENDING ? caught : 0;
	s->seconds = now_s() - s->begun_s;
	sl_simulate_rows(s, true);
	return sl_simulate_result(s);
}
