#include "tools/paper/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/random.h"

#define SEED 1u

/* ---- memory ---- */

static int open_round(struct sl_run *run, struct sl_run_round *round)
{
	size_t n = run->plan->parameters;
	uint32_t count = run->plan->coordinate_count;
	round->sum = calloc(n + 1, sizeof *round->sum);
	round->mean = calloc(n, sizeof *round->mean);
	round->z = calloc(n + 1, sizeof *round->z);
	round->model = calloc(n, sizeof *round->model);
	round->truth = calloc(count + 1, sizeof *round->truth);
	double unit = 1.0 / run->plan->learners;
	for (uint32_t d = 0; d < run->settings.decimals; d++)
		unit /= 10;
	sl_trace_init(&round->trace, run->plan->learners, round->truth, count, run->plan->shown, unit);
	return round->sum && round->mean && round->z && round->model && round->truth ? SL_OK : SL_ERR_NOMEM;
}

#define SET_MOST 16u

size_t sl_run_set_count(const char *const *set)
{
	size_t count = 0;
	while (set[count] != NULL)
		count++;
	return count;
}

static int settle(struct sl_run *run, struct sl_error *error)
{
	const struct sl_run_plan *plan = run->plan;
	const char *set[SET_MOST];
	char mixing[32];
	size_t count = sl_run_set_count(plan->set);
	assert(count < SET_MOST);
	snprintf(mixing, sizeof mixing, "mixing=%s", plan->mixing);
	memcpy(set, plan->set, count * sizeof *set);
	set[count++] = mixing;
	int rc = sl_runner_settings(set, count, plan->schedule, &run->settings, error);
	if (rc != SL_OK)
		return rc;
	const struct sl_settings *s = &run->settings;
	run->encoding = (struct sl_encoding){.kind = s->encoding,
					     .decimals = s->decimals,
					     .clipping_range = s->clipping_range,
					     .clamp = s->clipping == SL_CLIPPING_CLAMP,
					     .weight = 1,
					     .weight_total = plan->learners};
	rc = sl_field_init(&run->field, s->modulus);
	return rc == SL_OK ? SL_OK
			   : sl_err_set(error, rc, "modulus: %" PRIu64 ": %s", s->modulus, sl_err_text(rc));
}

int sl_run_open(struct sl_run *run, const struct sl_run_plan *plan, struct sl_error *error)
{
	*run = (struct sl_run){.plan = plan};
	int rc = settle(run, error);
	if (rc != SL_OK)
		return rc;
	run->encoded = calloc(plan->parameters + 1, sizeof *run->encoded);
	run->rounds = calloc(run->settings.rounds, sizeof *run->rounds);
	rc = run->encoded != NULL && run->rounds != NULL ? SL_OK : SL_ERR_NOMEM;
	for (uint32_t t = 0; rc == SL_OK && t < run->settings.rounds; t++)
		rc = open_round(run, &run->rounds[t]);
	if (rc != SL_OK) {
		sl_run_close(run);
		return sl_err_set(error, rc, "%s", sl_err_text(rc));
	}
	return SL_OK;
}

void sl_run_close(struct sl_run *run)
{
	for (uint32_t t = 0; run->rounds != NULL && t < run->settings.rounds; t++) {
		struct sl_run_round *round = &run->rounds[t];
		free(round->sum);
		free(round->mean);
		free(round->z);
		free(round->model);
		free(round->truth);
		sl_trace_close(&round->trace);
	}
	free(run->rounds);
	free(run->encoded);
	run->rounds = NULL;
	run->encoded = NULL;
}

/* ---- what the runner asks and tells ---- */

static int make_model(struct sl_run *run, struct sl_runner_training *training, struct sl_error *error)
{
	size_t n = run->plan->parameters;
	struct sl_training result;
	if (run->plan->trainers != NULL) {
		struct sl_trainer *t = run->plan->trainers[training->learner];
		memcpy(training->model, training->committed, n * sizeof *training->model);
		return t->ops->train(t, training->model, training->draw, NULL, NULL, &result, error);
	}
	uint64_t random = sl_random_seed(SEED, training->learner, training->t);
	for (size_t l = 0; l < n; l++)
		training->model[l] = (float)sl_random_in(&random, -1, 1);
	return SL_OK;
}

static int train(void *context, struct sl_runner_training *training, struct sl_error *error)
{
	struct sl_run *run = context;
	const struct sl_run_plan *plan = run->plan;
	struct sl_run_round *round = &run->rounds[training->t - 1];
	struct sl_encode_note note;
	int rc = make_model(run, training, error);
	if (rc != SL_OK)
		return rc;
	rc = sl_encoding_encode(&run->field, &run->encoding, training->model, plan->parameters, run->encoded,
				&note);
	if (rc != SL_OK)
		return sl_err_set(error, rc, "learner %u, coordinate %zu: %g: %s", training->learner + 1,
				  note.index + 1, note.value, sl_err_text(rc));
	for (size_t l = 0; l <= plan->parameters; l++)
		round->sum[l] = sl_field_add(&run->field, round->sum[l], run->encoded[l]);
	for (size_t l = 0; l < plan->parameters; l++)
		round->mean[l] += (double)training->model[l] / plan->learners;
	for (uint32_t c = 0; c < plan->coordinate_count; c++)
		round->truth[c] = round->sum[plan->coordinates[c]];
	return SL_OK;
}

static void sampled(void *context, const struct sl_runner_sample *sample)
{
	struct sl_run *run = context;
	if (run->code == SL_OK)
		run->code = sl_trace_sample(&run->rounds[sample->view->t - 1].trace, sample);
}

void sl_run_committed(struct sl_run *run, const struct sl_runner_commit *commit)
{
	struct sl_run_round *round = &run->rounds[commit->t - 1];
	for (size_t l = 0; l <= run->plan->parameters; l++)
		round->wrong += commit->z[l] != round->sum[l];
	memcpy(round->z, commit->z, (run->plan->parameters + 1) * sizeof *round->z);
	memcpy(round->model, commit->model, run->plan->parameters * sizeof *round->model);
	round->commits++;
	if (commit->view != NULL)
		run->k = commit->view->steps;
}

static void committed(void *context, const struct sl_runner_commit *commit)
{
	sl_run_committed(context, commit);
}

/* ---- the run ---- */

void sl_run_check(const struct sl_run *run, struct sl_paper *r)
{
	const struct sl_run_plan *plan = run->plan;
	for (uint32_t t = 0; t < run->settings.rounds; t++) {
		const struct sl_run_round *round = &run->rounds[t];
		if (round->commits != plan->learners)
			sl_paper_broken(r, "%s, round %u: %u of %u learners committed", plan->what, t + 1,
					round->commits, plan->learners);
		if (round->wrong > 0)
			sl_paper_broken(r,
					"%s, round %u: %" PRIu64 " committed elements are not the plain sum",
					plan->what, t + 1, round->wrong);
		if (plan->coordinate_count > 0 && !sl_trace_whole(&round->trace))
			sl_paper_broken(r, "%s, round %u: not every state was seen", plan->what, t + 1);
		else if (plan->coordinate_count > 0 && sl_trace_settled(&round->trace) > round->trace.k)
			sl_paper_broken(r, "%s, round %u: wrong after all K = %" PRIu64 " iterations",
					plan->what, t + 1, round->trace.k);
	}
}

static double part_done(const struct sl_runner_figures *f, const struct sl_run *run)
{
	double round = (double)f->permille / 1000;
	return ((double)f->committed + (f->phase == SL_PHASE_MIX ? round : 0)) / run->settings.rounds;
}

static int play(struct sl_run *run, struct sl_runner *runner, struct sl_paper *r, struct sl_error *error)
{
	struct sl_runner_figures figures;
	int rc = SL_PENDING;
	while (rc == SL_PENDING) {
		rc = sl_runner_step(runner, error);
		sl_runner_figures(runner, &figures);
		if (rc == SL_PENDING && sl_write_at(r, run->plan->what, part_done(&figures, run)) != SL_OK)
			return SL_PENDING;
	}
	memcpy(run->seconds, figures.seconds, sizeof run->seconds);
	if (rc == SL_OK && run->code != SL_OK)
		rc = sl_err_set(error, run->code, "%s", sl_err_text(run->code));
	return rc;
}

/* Where the trainers begin; zeros when there are none. To free(). */
static float *initial_model(const struct sl_run_plan *plan)
{
	float *model = calloc(plan->parameters, sizeof *model);
	if (model != NULL && plan->trainers != NULL)
		plan->trainers[0]->ops->initial(plan->trainers[0], model);
	return model;
}

int sl_run_play(struct sl_run *run, struct sl_paper *r, struct sl_error *error)
{
	const struct sl_run_plan *plan = run->plan;
	float *initial = initial_model(plan);
	struct sl_runner *runner = NULL;
	struct sl_runner_options options = {.learners = plan->learners,
					    .settings = &run->settings,
					    .schedule = plan->schedule,
					    .parameters = plan->parameters,
					    .initial = initial,
					    .seed = SEED,
					    .coordinates = plan->coordinates,
					    .coordinate_count = plan->coordinate_count,
					    .train = train,
					    .committed = committed,
					    .sampled = plan->coordinate_count > 0 ? sampled : NULL,
					    .context = run};
	int rc = initial != NULL ? sl_runner_open(&options, &runner, error)
				 : sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	if (rc == SL_OK)
		rc = play(run, runner, r, error);
	sl_runner_close(runner);
	free(initial);
	if (rc == SL_OK)
		sl_run_check(run, r);
	else if (rc != SL_PENDING)
		sl_err_wrap(error, "%s", plan->what);
	return rc;
}
