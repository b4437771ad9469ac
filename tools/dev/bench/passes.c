/* Passes: what the jobs of a round cost, for each parameter, and the bytes that they read from memory and
 * write there, of five learners with a million parameters and the default settings. The linker puts the
 * clock around sl_job_run. */
#include <stdlib.h>
#include <string.h>

#include "common/compute/job.h"
#include "tools/dev/bench/bench.h"
#include "tools/runner/runner.h"

#define LEARNERS 5u
#define PARAMETERS 1000000u
#define SETTLING 4u /* rounds until the ranges are those of the updates */

/* The vectors that a job reads or writes as a whole: a model has 4 bytes for each parameter (so have `base`,
 * what was committed before, and `rest`); s and a slot 17 bits, which take part in each pass. A learner keeps
 * the deposit of one other, and sums those of two in mixing, on average. */
#define P 2.125
static const struct {
	const char *name;
	double reads, writes;
} passes[SL_JOB_KINDS] = {
	[SL_JOB_ENCODE] = {"encode: model, base (twice); s is cleared", 16, P},
	[SL_JOB_SHARE] = {"share: model, base, s; four streams", 8 + P, P},
	[SL_JOB_EXPAND] = {"expand: s; four streams", P, P},
	[SL_JOB_DEPOSIT] = {"deposit: s to the slot; a stream", P, P},
	[SL_JOB_COMMITMENT] = {"commitment: the slot is hashed", P, 0},
	[SL_JOB_FETCH] = {"fetch: a frame to a slot", P, P},
	[SL_JOB_CHECK] = {"check: a slot is hashed, and looked at", P, 0},
	[SL_JOB_MIX] = {"mix: states to s, or into it", 3 * P, 2 * P},
	[SL_JOB_CHECKSUM] = {"checksum: two slots, s; two streams", 3 * P, 0},
	[SL_JOB_CLOSE] = {"close: s, base; hashes of Z and the model", 4 + P, 0},
	[SL_JOB_ACCEPT] = {"accept: model, base, s to base and rest", 12 + P, 8},
};

static double spent[SL_JOB_KINDS];

/* The names that the linker gives them. */
void real_run(struct sl_workspace *workspace, const struct sl_job *job,
	      struct sl_job_result *result) __asm__("__real_sl_job_run");
void timed_run(struct sl_workspace *workspace, const struct sl_job *job,
	       struct sl_job_result *result) __asm__("__wrap_sl_job_run");

void timed_run(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	double begun = sl_bench_thread_ns();
	real_run(workspace, job, result);
	spent[job->kind] += sl_bench_thread_ns() - begun;
}

static int train(void *context, struct sl_runner_training *training, struct sl_error *error)
{
	uint64_t *seed = context;
	(void)error;
	for (size_t l = 0; l < PARAMETERS; l++) {
		*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		training->model[l] = training->committed[l] + (float)(int32_t)(*seed >> 32) * 0x1p-34f;
	}
	return SL_OK;
}

/* Sample what the jobs have cost since the last call, and forget it. */
static void sample(bool shown)
{
	double all = 0;
	for (size_t k = 0; k < SL_JOB_KINDS; k++) {
		double ns = spent[k] / LEARNERS / PARAMETERS;
		all += ns;
		spent[k] = 0;
		if (shown && passes[k].name != NULL)
			sl_bench_sample(ns, "ns", "%s (%.3g B + %.3g B)", passes[k].name, passes[k].reads,
					passes[k].writes);
	}
	if (shown)
		sl_bench_sample(all, "ns", "all jobs");
}

static int play(struct sl_runner *runner, struct sl_error *error)
{
	struct sl_runner_figures figures = {0};
	int rc = SL_PENDING;
	for (sl_round done = 0; rc == SL_PENDING; done = figures.committed) {
		rc = sl_runner_step(runner, error);
		sl_runner_figures(runner, &figures);
		if (figures.committed > done)
			sample(figures.committed > SETTLING);
	}
	return rc;
}

int sl_bench_passes(const struct sl_bench *bench, struct sl_error *error)
{
	static struct sl_settings settings;
	char rounds[32];
	const char *const set[] = {rounds, "trainer=noise", "noise_parameters=1000000"};
	struct sl_runner *runner;
	uint64_t seed = 1;
	snprintf(rounds, sizeof rounds, "rounds=%u", bench->repeat + SETTLING);
	float *initial = calloc(PARAMETERS, sizeof *initial);
	int rc = initial == NULL ? SL_ERR_NOMEM : sl_runner_settings(set, 3, NULL, &settings, error);
	for (size_t l = 0; rc == SL_OK && l < PARAMETERS; l++)
		initial[l] = (float)(l % 100) / 100;
	struct sl_runner_options options = {.learners = LEARNERS,
					    .settings = &settings,
					    .parameters = PARAMETERS,
					    .initial = initial,
					    .seed = 1,
					    .train = train,
					    .context = &seed};
	if (rc == SL_OK)
		rc = sl_runner_open(&options, &runner, error);
	if (rc == SL_OK) {
		rc = play(runner, error);
		sl_runner_close(runner);
	}
	free(initial);
	return rc;
}
