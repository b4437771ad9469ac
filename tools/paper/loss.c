/* Part f: loss against rounds, with models averaged as floats and through the encodings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "tools/paper/csv.h"
#include "tools/paper/run.h"

#define ROUNDS_MOST 25u
#define TRAINS 0.5  /* of the gain of floats: less counts as not trained */
#define EQUALS 0.02 /* of the loss of floats: a smaller difference counts as equal */

enum way { FLOATS, WEIGHTED, PAPER };

static const struct {
	const char *name, *set;
	uint32_t hidden_units;
} plans[] = {
	{"floats", "", 32},
	{"weighted σ = 3", "encoding=weighted decimals=3", 32},
	{"paper σ = 2", "encoding=paper decimals=2", 32},
	{"paper σ = 4", "encoding=paper decimals=4", 32},
	{"floats", "", 1},
	{"weighted σ = 3", "encoding=weighted decimals=3", 1},
	{"paper σ = 2", "encoding=paper decimals=2", 1},
};
#define CURVES 7u
#define OF_LARGE 4u /* the first curves are of 32 hidden units, the others of the paper's one */

/* One curve, measured on a thread of libuv's pool. */
struct curve {
	uv_work_t work;
	struct sl_run_plan plan;
	struct sl_run run;
	struct sl_paper own;	     /* failed checks, for the report once all curves are measured */
	double mse[ROUNDS_MOST + 1]; /* before the first round, and after each */
	struct sl_error error;
	int rc;
};

/* ---- a curve ---- */

static int evaluate(struct curve *c, const float *model, uint32_t round)
{
	struct sl_trainer *trainer = c->run.trainers[0];
	return trainer->ops->evaluate(trainer, model, &c->mse[round], &c->error);
}

/* Train the models of one round and average them as floats. */
static int train_floats(struct curve *c, uint32_t round, float *own, double *sum)
{
	size_t n = c->run.parameters;
	float *model = c->run.initial;
	struct sl_training result;
	memset(sum, 0, n * sizeof *sum);
	for (uint32_t i = 0; i < c->plan.learners; i++) {
		struct sl_trainer *t = c->run.trainers[i];
		memcpy(own, model, n * sizeof *own);
		int rc = t->ops->train(t, &(struct sl_training_request){.round = round, .draw = round}, own,
				       &result, &c->error);
		if (rc != SL_OK)
			return rc;
		for (size_t l = 0; l < n; l++)
			sum[l] += (double)own[l];
	}
	for (size_t l = 0; l < n; l++)
		model[l] = (float)(sum[l] / c->plan.learners);
	return evaluate(c, model, round + 1);
}

static int average_floats(struct curve *c)
{
	float *own = sl_command_memory(c->run.parameters, sizeof *own);
	double *sum = sl_command_memory(c->run.parameters, sizeof *sum);
	int rc = SL_OK;
	for (uint32_t t = 0; rc == SL_OK && t < c->run.settings.rounds; t++) {
		rc = sl_paper_progress(&c->own, c->plan.what, (double)t / c->run.settings.rounds);
		if (rc == SL_OK)
			rc = train_floats(c, t, own, sum);
	}
	free(own);
	free(sum);
	return rc;
}

static int average_encoded(struct curve *c)
{
	int rc = sl_run_play(&c->run, &c->own, &c->error);
	for (uint32_t t = 0; rc == SL_OK && t < c->run.settings.rounds; t++)
		rc = evaluate(c, c->run.rounds[t].model, t + 1);
	return rc;
}

static void measure(uv_work_t *work)
{
	struct curve *c = work->data;
	c->rc = sl_run_open(&c->run, &c->plan, &c->error);
	if (c->rc == SL_OK)
		c->rc = evaluate(c, c->run.initial, 0);
	if (c->rc == SL_OK)
		c->rc = strcmp(c->plan.what, "floats") == 0 ? average_floats(c) : average_encoded(c);
	sl_run_close(&c->run);
}

/* Return the first failure of a curve. */
static int measure_all(struct sl_paper *r, struct curve *curves, uint32_t first, struct sl_error *error)
{
	uv_loop_t loop;
	int rc = SL_OK;
	if (uv_loop_init(&loop) != 0)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	for (uint32_t i = first; i < CURVES; i++)
		uv_queue_work(&loop, &curves[i].work, measure, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_loop_close(&loop);
	for (uint32_t i = first; i < CURVES; i++) {
		struct curve *c = &curves[i];
		for (uint32_t b = 0; b < c->own.broken_count && b < SL_BROKEN_MOST; b++)
			sl_paper_broken(r, "%s", c->own.broken[b]);
		if (rc == SL_OK && c->rc != SL_OK) {
			rc = c->rc;
			*error = c->error;
		}
	}
	return rc;
}

/* ---- the report ---- */

/* Of three curves in a row: floats, weighted, paper. */
static void claim(struct sl_paper *r, const struct curve *c, uint32_t hidden_units, uint32_t rounds)
{
	double from = c->mse[0], floats = c[FLOATS].mse[rounds], weighted = c[WEIGHTED].mse[rounds],
	       printed = c[PAPER].mse[rounds];
	char what[128];
	snprintf(what, sizeof what, "its encoding (paper) trains at σ = 2; h = %u, N = %u", hidden_units,
		 c->plan.learners);
	sl_paper_claim(r, 'f', sl_paper_full_verdict(r, from - printed >= TRAINS * (from - floats)), what,
		       "σ = 2", "MSE %.4f before, %.4f after %u rounds; floats: %.4f", from, printed, rounds,
		       floats);
	snprintf(what, sizeof what, "averaging through an encoding trains as with floats; h = %u",
		 hidden_units);
	sl_paper_claim(r, 'f', sl_paper_full_verdict(r, fabs(weighted - floats) <= EQUALS * floats), what,
		       "no loss of accuracy", "weighted, σ = 3: %.4f; floats: %.4f", weighted, floats);
}

static void write_part(struct sl_paper *r, const struct curve *curves, uint32_t first, uint32_t rounds)
{
	FILE *csv = sl_paper_folder_file(&r->folder, "f_loss.csv");
	sl_csv_print(csv, "hidden,averaging,round,mse\n");
	for (uint32_t i = first; i < CURVES; i++)
		for (uint32_t t = 0; t <= rounds; t++)
			sl_csv_print(csv, "%u,%s,%u,%g\n", plans[i].hidden_units, plans[i].name, t,
				     curves[i].mse[t]);
	sl_paper_value(r, "f_learners", "%u", curves[first].plan.learners);
	sl_paper_value(r, "f_hidden", first == 0 ? "32 1" : "1");
	sl_paper_value(r, "f_data",
		       strcmp(r->options.data, "digits") == 0
			       ? "digits that the program draws (no MNIST was given: --data)"
			       : "the images given");
	if (first == 0)
		claim(r, curves, 32, rounds);
	claim(r, &curves[OF_LARGE], 1, rounds);
}

int sl_paper_loss(struct sl_paper *r, struct sl_error *error)
{
	bool quick = r->options.quick;
	uint32_t rounds = quick ? 2 : ROUNDS_MOST, first = quick ? OF_LARGE : 0;
	struct curve *curves = sl_command_memory(CURVES, sizeof *curves);
	for (uint32_t i = first; i < CURVES; i++) {
		struct curve *c = &curves[i];
		c->work.data = c;
		c->plan = (struct sl_run_plan){.what = plans[i].name,
					       .learners = quick ? 10 : SL_PAPER_LEARNERS,
					       .topologies = {quick ? "regular:4" : "regular:10"},
					       .data = r->options.data};
		snprintf(c->plan.set, sizeof c->plan.set,
			 "rounds=%u hidden_units=%u modulus=2147483647 sharing=additive privacy_check=warn "
			 "mixing=exact epochs=%u %s",
			 rounds, plans[i].hidden_units, quick ? 1 : 5, plans[i].set);
		c->own = (struct sl_paper){.options = r->options,
					   .stopped = r->stopped,
					   .live = r->live && i == first,
					   .part = 'f',
					   .begun_ms = r->begun_ms};
	}
	int rc = measure_all(r, curves, first, error);
	if (rc == SL_OK)
		write_part(r, curves, first, rounds);
	free(curves);
	return rc;
}
