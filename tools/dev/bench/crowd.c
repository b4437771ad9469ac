#include "tools/dev/bench/crowd.h"

#include "common/base/random.h"
#include "tools/dev/bench/kernels.h"
#include "tools/sim/runner.h"
#include "tools/topology/topology.h"

struct crowd_run {
	const struct sl_crowd *crowd;
	struct sl_crowd_costs *costs;
};

static int train(void *context, struct sl_runner_training *training, struct sl_error *error)
{
	const struct crowd_run *run = context;
	uint64_t random = sl_random_seed(1, training->learner, training->draw);
	(void)error;
	for (size_t i = 0; i < run->crowd->parameters; i++)
		training->model[i] = (float)sl_random_in(&random, -1, 1);
	return SL_OK;
}

static void reported(void *context, uint32_t learner, const struct sl_report *report)
{
	struct crowd_run *run = context;
	(void)learner;
	if (report->kind == SL_REPORT_COMMITTED)
		run->costs->exchanges = report->committed.exchanges;
}

static int play(const struct sl_runner_options *options, struct sl_crowd_costs *costs, struct sl_error *error)
{
	struct sl_runner_figures figures;
	struct sl_runner *runner;
	int rc = sl_runner_open(options, &runner, error);
	if (rc != SL_OK)
		return rc;
	do
		rc = sl_runner_step(runner, error);
	while (rc == SL_PENDING && !sl_bench_stopped());
	sl_runner_figures(runner, &figures);
	costs->share_s = figures.seconds[SL_PHASE_SHARE];
	costs->mix_s = figures.seconds[SL_PHASE_MIX];
	sl_runner_close(runner);
	return rc;
}

static int settings_of(const struct sl_crowd *crowd, const struct sl_schedule *schedule,
		       struct sl_settings *settings, struct sl_error *error)
{
	const char *set[SL_CROWD_SETS + 2] = {"rounds=1", "privacy_check=warn"};
	size_t count = 2;
	for (size_t i = 0; i < SL_CROWD_SETS && crowd->set[i] != NULL; i++)
		set[count++] = crowd->set[i];
	return sl_runner_settings(set, count, schedule, settings, error);
}

int sl_crowd_round(const struct sl_crowd *crowd, struct sl_crowd_costs *costs, struct sl_error *error)
{
	struct crowd_run run = {crowd, costs};
	struct sl_settings settings;
	struct sl_schedule schedule;
	struct sl_topology_request request = {
		.text = crowd->topology, .learners = crowd->learners, .steps = 1, .seed = 1};
	struct sl_runner_options options = {.learners = crowd->learners,
					    .settings = &settings,
					    .schedule = &schedule,
					    .parameters = crowd->parameters,
					    .seed = 1,
					    .train = train,
					    .reported = reported,
					    .context = &run};
	int rc = sl_topology_schedule(&request, &schedule, error);
	if (rc != SL_OK)
		return rc;
	rc = settings_of(crowd, &schedule, &settings, error);
	if (rc == SL_OK)
		rc = play(&options, costs, error);
	sl_schedule_close(&schedule);
	return rc;
}

int sl_bench_iteration(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error)
{
	const struct sl_crowd *crowd = self->details;
	struct sl_figure *alone = sl_bench_figure(bench, "us", "an iteration, arithmetic alone");
	struct sl_figure *whole = sl_bench_figure(bench, "us", "an iteration, in a round");
	struct sl_crowd_costs costs;
	uint32_t repeat = bench->options.repeat;
	int rc = sl_bench_kernel_iteration(100, 87, 2354, 10, repeat, alone);
	if (rc != SL_OK)
		return sl_err_set(error, rc, "%s", sl_err_text(rc));
	for (uint32_t i = 0; rc == SL_OK && i < repeat; i++) {
		rc = sl_bench_at(bench, "rounds of 100 learners", i, repeat);
		if (rc == SL_OK)
			rc = sl_crowd_round(crowd, &costs, error);
		if (rc == SL_OK)
			sl_figure_add(whole, 1e6 * costs.mix_s / (double)(costs.exchanges * crowd->learners));
	}
	return rc;
}
