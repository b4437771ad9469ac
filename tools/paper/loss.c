/* Part f: loss against rounds, with models averaged as floats and through the encodings. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/lib/csv.h"
#include "tools/paper/run.h"
#include "tools/paper/step.h"
#include "tools/paper/document.h"
#include "tools/paper/trainers.h"

#define ROUNDS_MOST 25u
#define WORKERS_MOST 4u
#define QUICK_LEARNERS 10u
#define TRAINS 0.5  /* of the gain of floats: less counts as not trained */
#define EQUALS 0.02 /* of the loss of floats: a smaller difference counts as equal */

enum way { FLOATS, WEIGHTED, LITERAL };

struct curve {
	const char *name;
	enum way way;
	const char *decimals;
	uint32_t hidden_units;
	double mse[ROUNDS_MOST + 1]; /* before the first round, and after each */
};

#define CURVES 7u
static const struct curve plan[CURVES] = {{"floats", FLOATS, "", 32, {0}},
					  {"weighted σ = 3", WEIGHTED, "decimals=3", 32, {0}},
					  {"paper σ = 2", LITERAL, "decimals=2", 32, {0}},
					  {"paper σ = 4", LITERAL, "decimals=4", 32, {0}},
					  {"floats", FLOATS, "", 1, {0}},
					  {"weighted σ = 3", WEIGHTED, "decimals=3", 1, {0}},
					  {"paper σ = 2", LITERAL, "decimals=2", 1, {0}}};
#define OF_LARGE 4u /* the first curves are of 32 hidden units, the others of the paper's one */

struct losses {
	struct sl_paper *r;
	uint32_t learners, rounds, first; /* first curve */
	struct sl_schedule schedule;
	struct curve curves[CURVES];
	atomic_uint next;
};

/* ---- a curve ---- */

static int evaluate(struct sl_trainer *trainer, const float *model, double *mse, struct sl_error *error)
{
	return trainer->ops->evaluate(trainer, model, mse, error);
}

/* Train and average the models of one round as floats. */
static int round_of_floats(struct sl_trainer *const *trainers, uint32_t learners, uint32_t round,
			   float *model, float *own, double *sum, struct sl_error *error)
{
	size_t n = trainers[0]->ops->parameters(trainers[0]);
	struct sl_training result;
	memset(sum, 0, n * sizeof *sum);
	for (uint32_t i = 0; i < learners; i++) {
		memcpy(own, model, n * sizeof *own);
		int rc = trainers[i]->ops->train(trainers[i], own, round, NULL, NULL, &result, error);
		if (rc != SL_OK)
			return rc;
		for (size_t l = 0; l < n; l++)
			sum[l] += (double)own[l];
	}
	for (size_t l = 0; l < n; l++)
		model[l] = (float)(sum[l] / learners);
	return SL_OK;
}

static int average_floats(const struct losses *w, struct curve *c, struct sl_trainer *const *trainers,
			  struct sl_paper *own_report, struct sl_error *error)
{
	size_t n = trainers[0]->ops->parameters(trainers[0]);
	float *model = calloc(n, sizeof *model), *own = calloc(n, sizeof *own);
	double *sum = calloc(n, sizeof *sum);
	int rc = model && own && sum ? SL_OK
				     : sl_err_set(error, SL_ERR_NOMEM, "%s", sl_err_text(SL_ERR_NOMEM));
	if (rc == SL_OK)
		trainers[0]->ops->initial(trainers[0], model);
	for (uint32_t t = 0; rc == SL_OK && t < w->rounds; t++) {
		rc = sl_write_at(own_report, c->name, (double)t / w->rounds);
		if (rc == SL_OK)
			rc = round_of_floats(trainers, w->learners, t, model, own, sum, error);
		if (rc == SL_OK)
			rc = evaluate(trainers[0], model, &c->mse[t + 1], error);
	}
	free(model);
	free(own);
	free(sum);
	return rc;
}

static int average_encoded(const struct losses *w, struct curve *c, struct sl_trainer *const *trainers,
			   const char *const *set, struct sl_paper *own_report, struct sl_error *error)
{
	struct sl_run run;
	struct sl_run_plan run_plan = {.what = c->name,
				       .learners = w->learners,
				       .parameters = trainers[0]->ops->parameters(trainers[0]),
				       .schedule = &w->schedule,
				       .mixing = "exact",
				       .set = set,
				       .trainers = trainers};
	int rc = sl_run_open(&run, &run_plan, error);
	if (rc != SL_OK)
		return rc;
	rc = sl_run_play(&run, own_report, error);
	for (uint32_t t = 0; rc == SL_OK && t < w->rounds; t++)
		rc = evaluate(trainers[0], run.rounds[t].model, &c->mse[t + 1], error);
	sl_run_close(&run);
	return rc;
}

static int start_and_average(const struct losses *w, struct curve *c, struct sl_trainer *const *trainers,
			     const char *const *set, struct sl_paper *own_report, struct sl_error *error)
{
	size_t n = trainers[0]->ops->parameters(trainers[0]);
	float *model = calloc(n, sizeof *model);
	if (model == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "%s", sl_err_text(SL_ERR_NOMEM));
	trainers[0]->ops->initial(trainers[0], model);
	int rc = evaluate(trainers[0], model, &c->mse[0], error);
	free(model);
	if (rc != SL_OK)
		return rc;
	if (c->way == FLOATS)
		return average_floats(w, c, trainers, own_report, error);
	return average_encoded(w, c, trainers, set, own_report, error);
}

static int measure(const struct losses *w, struct curve *c, struct sl_paper *own_report,
		   struct sl_error *error)
{
	char rounds[32], hidden_units[32], data[SL_PATH_BYTES + 8];
	const char *const set[] = {rounds,
				   hidden_units,
				   data,
				   "modulus=2147483647",
				   "sharing=additive",
				   "privacy_check=warn",
				   w->r->options.quick ? "epochs=1" : "epochs=5",
				   c->way == LITERAL ? "encoding=paper" : "encoding=weighted",
				   c->way == FLOATS ? NULL : c->decimals,
				   NULL};
	struct sl_settings settings;
	struct sl_trainer **trainers;
	snprintf(rounds, sizeof rounds, "rounds=%u", w->rounds);
	snprintf(hidden_units, sizeof hidden_units, "hidden_units=%u", c->hidden_units);
	snprintf(data, sizeof data, "data=%s", w->r->options.data);
	int rc = sl_runner_settings(set, sl_run_set_count(set), &w->schedule, &settings, error);
	if (rc == SL_OK)
		rc = sl_trainers_open(&settings, w->learners, &trainers, error);
	if (rc != SL_OK)
		return rc;
	rc = start_and_average(w, c, trainers, set, own_report, error);
	sl_trainers_close(trainers, w->learners);
	return rc;
}

/* ---- all of them, as many at once as there are processors ---- */

struct worker {
	struct losses *losses;
	pthread_t thread;
	struct sl_paper own; /* failed checks, for the report once all workers have ended */
	struct sl_error error;
	int rc;
};

static void *work(void *context)
{
	struct worker *worker = context;
	struct losses *w = worker->losses;
	uint32_t i;
	while (worker->rc == SL_OK && (i = atomic_fetch_add(&w->next, 1)) < CURVES)
		worker->rc = measure(w, &w->curves[i], &worker->own, &worker->error);
	if (worker->rc != SL_OK)
		atomic_store(&w->next, CURVES); /* no worker begins another one */
	return NULL;
}

static int finish(struct losses *w, struct worker *worker, struct sl_error *error)
{
	for (uint32_t b = 0; b < worker->own.broken_count && b < SL_BROKEN_MOST; b++)
		sl_paper_broken(w->r, "%s", worker->own.broken[b]);
	if (worker->rc != SL_OK && worker->rc != SL_PENDING)
		*error = worker->error;
	return worker->rc;
}

static void begin(struct losses *w, struct worker *worker, bool shows)
{
	*worker = (struct worker){.losses = w, .own = {.options = w->r->options, .stopped = w->r->stopped}};
	worker->own.live = shows && w->r->live;
	worker->own.part = 'f';
	worker->own.begun = w->r->begun;
}

static int measure_all(struct losses *w, struct sl_error *error)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t count = processors < 2			   ? 1
			 : processors > (long)WORKERS_MOST ? WORKERS_MOST
							   : (uint32_t)processors;
	struct worker *workers = calloc(count, sizeof *workers);
	int rc = workers != NULL ? SL_OK : sl_err_set(error, SL_ERR_NOMEM, "%s", sl_err_text(SL_ERR_NOMEM));
	uint32_t started = 1;
	if (rc != SL_OK)
		return rc;
	begin(w, &workers[0], true);
	for (; started < count; started++) {
		begin(w, &workers[started], false);
		if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0)
			break;
	}
	work(&workers[0]);
	for (uint32_t i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	for (uint32_t i = 0; i < started; i++) {
		int ended = finish(w, &workers[i], error);
		rc = rc == SL_OK ? ended : rc;
	}
	free(workers);
	return rc;
}

/* ---- what it comes to ---- */

static double last(const struct losses *w, uint32_t curve)
{
	return w->curves[curve].mse[w->rounds];
}

static void draw(const struct losses *w, const char *title, uint32_t first, uint32_t end)
{
	sl_document_panel(w->r, title, "round", "mean squared error of a pixel, on images held out", "y");
	for (uint32_t i = first; i < end; i++)
		fprintf(w->r->plots.out,
			"%s rows('f_loss.csv', '%u,%s') using 3:4 with linespoints title '%s'%s",
			i == first ? "plot" : "  ", w->curves[i].hidden_units, w->curves[i].name,
			w->curves[i].name, i + 1 < end ? ", \\\n" : "\n");
}

static int write_csv(const struct losses *w, struct sl_error *error)
{
	struct sl_csv csv;
	FILE *out = sl_paper_folder_file(&w->r->folder, "f_loss.csv", error);
	if (out == NULL)
		return error->code;
	sl_csv_open(&csv, out, "hidden,averaging,round,mse");
	for (uint32_t i = w->first; i < CURVES; i++)
		for (uint32_t t = 0; t <= w->rounds; t++) {
			sl_csv_whole(&csv, w->curves[i].hidden_units);
			sl_csv_text(&csv, w->curves[i].name);
			sl_csv_whole(&csv, t);
			sl_csv_real(&csv, w->curves[i].mse[t]);
			sl_csv_end(&csv);
		}
	return SL_OK;
}

/* Of three curves in a row: floats, weighted, literal. */
static void claim(struct losses *w, uint32_t floats)
{
	const struct curve *c = &w->curves[floats];
	double from = c->mse[0], gain = from - last(w, floats), literal = last(w, floats + 2);
	char what[128];
	bool trains = from - literal >= TRAINS * gain;
	bool equal = fabs(last(w, floats + 1) - last(w, floats)) <= EQUALS * last(w, floats);
	snprintf(what, sizeof what, "its encoding (paper) trains at σ = 2; h = %u, N = %u", c->hidden_units,
		 w->learners);
	sl_paper_claim(w->r, 'f', sl_paper_full_verdict(w->r, trains), what, "σ = 2",
		       "MSE %.4f before, %.4f after %u rounds; floats: %.4f", from, literal, w->rounds,
		       last(w, floats));
	snprintf(what, sizeof what, "averaging through an encoding trains as with floats; h = %u",
		 c->hidden_units);
	sl_paper_claim(w->r, 'f', sl_paper_full_verdict(w->r, equal), what, "no loss of accuracy",
		       "weighted, σ = 3: %.4f; floats: %.4f", last(w, floats + 1), last(w, floats));
}

static int write_part(struct losses *w, struct sl_error *error)
{
	bool digits = strcmp(w->r->options.data, "digits") == 0;
	sl_document_heading(w->r, "f. Loss against rounds");
	sl_document_text(w->r,
			 "%u learners train an autoencoder on %s, dealt evenly. Their models are averaged as "
			 "floats; by rounds of this code "
			 "with the encoding `weighted` (integers of σ digits, weights added up beside them); "
			 "and with the paper's, `paper` "
			 "(weighted first, then truncated to σ digits): with weights of 1/%u and σ = 2 that "
			 "keeps the integer part of a "
			 "parameter, and little of it if N is large.",
			 w->learners,
			 digits ? "digits that the program draws (no MNIST was given: --data)"
				: "the images given",
			 w->learners);
	sl_document_figure(w->r, "f_loss", 1, w->first == 0 ? 2 : 1);
	if (w->first == 0)
		draw(w, "32 hidden units, n = 50,992", 0, OF_LARGE);
	draw(w, "1 hidden unit, n = 2,353, as in the paper", OF_LARGE, CURVES);
	sl_document_caption(w->r, "Every round's sum was checked against the plain sum of the encodings.");
	if (w->first == 0)
		claim(w, 0);
	claim(w, OF_LARGE);
	return write_csv(w, error);
}

int sl_paper_loss(struct sl_paper *r, struct sl_error *error)
{
	bool quick = r->options.quick;
	struct losses w = {.r = r,
			   .learners = quick ? QUICK_LEARNERS : SL_PAPER_LEARNERS,
			   .rounds = quick ? 2 : ROUNDS_MOST,
			   .first = quick ? OF_LARGE : 0};
	memcpy(w.curves, plan, sizeof plan);
	atomic_init(&w.next, w.first);
	sl_schedule_init(&w.schedule, w.learners);
	int rc = sl_step_add(&w.schedule, quick ? "regular:4" : "regular:10", 1, error);
	if (rc == SL_OK)
		rc = measure_all(&w, error);
	if (rc == SL_OK)
		rc = write_part(&w, error);
	sl_schedule_close(&w.schedule);
	return rc;
}
