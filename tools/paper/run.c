#include "tools/paper/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/random.h"
#include "tools/topology/topology.h"

#define SEED 1u
#define SET_MOST 16u

/* ---- graphs ---- */

/* Append the step that "regular:40" or "star" names. */
static int add_step(struct sl_schedule *schedule, const char *topology, struct sl_error *error)
{
	struct sl_topology_request request = {
		.text = topology, .learners = schedule->learners, .steps = 1, .seed = schedule->steps + 1};
	struct sl_schedule one;
	int rc = sl_topology_schedule(&request, &one, error);
	if (rc != SL_OK)
		return rc;
	rc = sl_schedule_add(schedule, sl_schedule_edges(&one, 0), sl_schedule_count(&one, 0));
	sl_schedule_close(&one);
	return rc == SL_OK ? SL_OK : sl_err_set(error, rc, "%s", sl_err_text(rc));
}

int sl_run_graph_open(struct sl_run_graph *graph, const char *topology, uint32_t learners,
		      struct sl_error *error)
{
	struct sl_schedule schedule;
	struct sl_arena arena;
	graph->memory = NULL;
	sl_schedule_init(&schedule, learners);
	int rc = add_step(&schedule, topology, error);
	if (rc == SL_OK) {
		size_t edges = sl_schedule_count(&schedule, 0), bytes = 4096 + 64 * (edges + learners);
		graph->memory = sl_command_memory(1, bytes);
		sl_arena_init(&arena, graph->memory, bytes);
		rc = sl_graph_init(&graph->graph, learners, sl_schedule_edges(&schedule, 0), edges, &arena);
		if (rc != SL_OK)
			sl_err_set(error, rc, "%s: %s", topology, sl_err_text(rc));
	}
	sl_schedule_close(&schedule);
	return rc;
}

void sl_run_graph_close(struct sl_run_graph *graph)
{
	free(graph->memory);
	graph->memory = NULL;
}

/* ---- memory ---- */

static void open_round(struct sl_run *run, struct sl_run_round *round)
{
	size_t n = run->parameters;
	uint32_t count = run->plan->coordinate_count;
	double unit = 1.0 / run->plan->learners;
	for (uint32_t d = 0; d < run->settings.decimals; d++)
		unit /= 10;
	round->sum = sl_command_memory(n + 1, sizeof *round->sum);
	round->mean = sl_command_memory(n, sizeof *round->mean);
	round->z = sl_command_memory(n + 1, sizeof *round->z);
	round->model = sl_command_memory(n, sizeof *round->model);
	round->truth = sl_command_memory(count + 1, sizeof *round->truth);
	round->trace = (struct sl_trace){.learners = run->plan->learners,
					 .count = count,
					 .truth = round->truth,
					 .shown = run->plan->shown,
					 .unit = unit};
}

static int open_settings(struct sl_run *run, struct sl_error *error)
{
	const struct sl_run_plan *plan = run->plan;
	const char *set[SET_MOST];
	char text[SL_RUN_SET_BYTES], data[SL_PATH_BYTES + 8], *rest = NULL;
	size_t count = 0;
	strcpy(text, plan->set);
	for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
		assert(count + 1 < SET_MOST);
		set[count++] = word;
	}
	snprintf(data, sizeof data, "data=%s", plan->data != NULL ? plan->data : "");
	if (plan->data != NULL)
		set[count++] = data;
	int rc = sl_runner_settings(set, count, run->schedule.steps > 0 ? &run->schedule : NULL,
				    &run->settings, error);
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

static int open_trainers(struct sl_run *run, struct sl_error *error)
{
	uint32_t count = run->plan->learners;
	run->parameters = run->plan->parameters;
	if (run->plan->data != NULL) {
		run->trainers = sl_command_memory(count, sizeof *run->trainers);
		for (uint32_t i = 0; i < count; i++) {
			int rc = sl_autoencoder_trainer_open(&run->settings, i, count, &run->trainers[i],
							     error);
			if (rc != SL_OK)
				return rc;
		}
		run->parameters = run->trainers[0]->ops->parameters(run->trainers[0]);
	}
	run->initial = sl_command_memory(run->parameters, sizeof *run->initial);
	if (run->trainers != NULL)
		run->trainers[0]->ops->initial(run->trainers[0], run->initial);
	return SL_OK;
}

int sl_run_open(struct sl_run *run, const struct sl_run_plan *plan, struct sl_error *error)
{
	int rc = SL_OK;
	*run = (struct sl_run){.plan = plan};
	sl_schedule_init(&run->schedule, plan->learners);
	for (uint32_t s = 0; rc == SL_OK && s < SL_PAPER_ROUNDS && plan->topologies[s] != NULL; s++)
		rc = add_step(&run->schedule, plan->topologies[s], error);
	if (rc == SL_OK)
		rc = open_settings(run, error);
	if (rc == SL_OK)
		rc = open_trainers(run, error);
	if (rc != SL_OK)
		return rc;
	run->encoded = sl_command_memory(run->parameters + 1, sizeof *run->encoded);
	run->rounds = sl_command_memory(run->settings.rounds, sizeof *run->rounds);
	for (uint32_t t = 0; t < run->settings.rounds; t++)
		open_round(run, &run->rounds[t]);
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
	for (uint32_t i = 0; run->trainers != NULL && i < run->plan->learners; i++)
		if (run->trainers[i] != NULL)
			run->trainers[i]->ops->close(run->trainers[i]);
	free(run->trainers);
	free(run->initial);
	free(run->rounds);
	free(run->encoded);
	sl_schedule_close(&run->schedule);
	*run = (struct sl_run){.plan = NULL};
}

/* ---- callbacks of the runner ---- */

static int make_model(struct sl_run *run, struct sl_runner_training *training, struct sl_error *error)
{
	struct sl_training result;
	if (run->trainers != NULL) {
		struct sl_trainer *t = run->trainers[training->learner];
		memcpy(training->model, training->committed, run->parameters * sizeof *training->model);
		return t->ops->train(t, &(struct sl_training_request){.draw = training->draw},
				     training->model, &result, error);
	}
	uint64_t random = sl_random_seed(SEED, training->learner, training->t);
	for (size_t l = 0; l < run->parameters; l++)
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
	rc = sl_encoding_encode(&run->field, &run->encoding, NULL, training->model, NULL, run->parameters,
				run->encoded, &note);
	if (rc != SL_OK)
		return sl_err_set(error, rc, "learner %u, coordinate %zu: %g: %s", training->learner + 1,
				  note.index + 1, note.value, sl_err_text(rc));
	for (size_t l = 0; l <= run->parameters; l++)
		round->sum[l] = sl_field_add(&run->field, round->sum[l], run->encoded[l]);
	for (size_t l = 0; l < run->parameters; l++)
		round->mean[l] += (double)training->model[l] / plan->learners;
	for (uint32_t c = 0; c < plan->coordinate_count; c++)
		round->truth[c] = round->sum[plan->coordinates[c]];
	return SL_OK;
}

static void sampled(void *context, const struct sl_runner_sample *sample)
{
	struct sl_run *run = context;
	sl_trace_sample(&run->rounds[sample->view->t - 1].trace, sample);
}

void sl_run_committed(struct sl_run *run, const struct sl_runner_commit *commit)
{
	struct sl_run_round *round = &run->rounds[commit->t - 1];
	sl_bytes_unpack(round->z, commit->z, run->parameters + 1, sl_field_bits(commit->p));
	for (size_t l = 0; l <= run->parameters; l++)
		round->wrong += round->z[l] != round->sum[l];
	memcpy(round->model, commit->model, run->parameters * sizeof *round->model);
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
		if (rc == SL_PENDING &&
		    sl_paper_progress(r, run->plan->what, part_done(&figures, run)) != SL_OK)
			return SL_PENDING;
	}
	memcpy(run->seconds, figures.seconds, sizeof run->seconds);
	return rc;
}

int sl_run_play(struct sl_run *run, struct sl_paper *r, struct sl_error *error)
{
	const struct sl_run_plan *plan = run->plan;
	struct sl_runner *runner = NULL;
	struct sl_runner_options options = {.learners = plan->learners,
					    .settings = &run->settings,
					    .schedule = run->schedule.steps > 0 ? &run->schedule : NULL,
					    .parameters = run->parameters,
					    .initial = run->initial,
					    .seed = SEED,
					    .coordinates = plan->coordinates,
					    .coordinate_count = plan->coordinate_count,
					    .train = train,
					    .committed = committed,
					    .sampled = plan->coordinate_count > 0 ? sampled : NULL,
					    .context = run};
	int rc = sl_runner_open(&options, &runner, error);
	if (rc == SL_OK)
		rc = play(run, runner, r, error);
	sl_runner_close(runner);
	if (rc == SL_OK)
		sl_run_check(run, r);
	else if (rc != SL_PENDING)
		sl_err_wrap(error, "%s", plan->what);
	return rc;
}

int sl_run_start(struct sl_run *run, const struct sl_run_plan *plan, struct sl_paper *r,
		 struct sl_error *error)
{
	int rc = sl_run_open(run, plan, error);
	return rc == SL_OK ? sl_run_play(run, r, error) : rc;
}

double sl_run_seconds(const struct sl_run *run, enum sl_phase first, enum sl_phase last)
{
	double sum = 0;
	for (enum sl_phase phase = first; phase <= last; phase++)
		sum += run->seconds[phase];
	return sum / run->plan->learners / run->settings.rounds;
}
