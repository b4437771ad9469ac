/* Parts a and b: six rounds of training over changing graphs, and what every learner decodes on the way. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "tools/lib/csv.h"
#include "tools/paper/step.h"
#include "tools/paper/run.h"
#include "tools/paper/trace_plot.h"
#include "tools/paper/document.h"
#include "tools/paper/trainers.h"

#define PICKED 3u
/* Every 40th coordinate, and those that the paper shows: 1569, 2033 and 2040 of 2353 (from 0 here). */
static const uint32_t picked[PICKED] = {1568, 2032, 2039};
#define DRAWN 1u /* of the three: the first one is a corner of the image, where nothing moves */
#define WATCHED 61u

/* From dense to sparse; the last one is learners that move. */
static const char *const graphs[SL_PAPER_ROUNDS] = {"regular:80", "regular:60", "regular:40",
						    "regular:20", "regular:10", "geometric"};
static const char *const names[SL_PAPER_ROUNDS] = {"80 neighbours", "60 neighbours",
						   "40 neighbours", "20 neighbours",
						   "10 neighbours", "in range of each other"};
#define QUICK_LEARNERS 12u
static const char *const quick_graphs[SL_PAPER_ROUNDS] = {"regular:10", "regular:8", "regular:6",
							  "regular:5",	"regular:4", "geometric:0.7"};
static const char *const quick_names[SL_PAPER_ROUNDS] = {"10 neighbours", "8 neighbours",
							 "6 neighbours",  "5 neighbours",
							 "4 neighbours",  "in range of each other"};

struct rounds {
	struct sl_paper *r;
	const char *const *names;
	uint32_t learners;
	uint32_t coordinates[WATCHED], picked_at[PICKED]; /* where in them */
	struct sl_run run;
	struct sl_csv csv;
};

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static void choose_coordinates(struct rounds *w)
{
	for (uint32_t c = 0; c < WATCHED; c++)
		w->coordinates[c] = c < PICKED ? picked[c] : 40 * (c - PICKED);
	qsort(w->coordinates, WATCHED, sizeof *w->coordinates, by_number);
	for (uint32_t i = 0; i < PICKED; i++)
		for (uint32_t c = 0; c < WATCHED; c++)
			if (w->coordinates[c] == picked[i])
				w->picked_at[i] = c;
}

/* ---- part a ---- */

static double decoded(const struct rounds *w, const uint64_t *z, uint32_t l)
{
	return (double)sl_field_centred(&w->run.field, z[l]) * w->run.rounds[0].trace.unit;
}

static void draw_rounds(struct rounds *w)
{
	char title[64], what[64];
	snprintf(what, sizeof what, "coordinate %u of the model, as decoded", picked[DRAWN] + 1);
	sl_document_figure(w->r, "a_trajectories", 2, 3);
	for (uint32_t t = 0; t < SL_PAPER_ROUNDS; t++) {
		const struct sl_run_round *round = &w->run.rounds[t];
		snprintf(title, sizeof title, "Round %u: %s", t + 1, w->names[t]);
		sl_trace_plot(w->r, &round->trace, w->names[t], title, what,
			      decoded(w, round->sum, picked[DRAWN]));
	}
	sl_document_caption(w->r,
			    "What each of the %u learners would decode if iteration k were its last. Early "
			    "values lie anywhere "
			    "in the field, since they are reduced mod p. Trajectories look settled before "
			    "they are right: a value is right "
			    "when it is the exact sum, and one that is off by the last digit is not.",
			    w->learners);
}

static int tell_rounds(struct rounds *w, struct sl_error *error)
{
	struct sl_csv csv;
	FILE *out = sl_paper_folder_file(&w->r->folder, "a_trajectories.csv", error);
	if (out == NULL)
		return error->code;
	sl_trace_csv_open(&csv, out, w->learners);
	uint64_t least = UINT64_MAX, most = 0;
	uint32_t ended = 0, at_ten = 0;
	for (uint32_t t = 0; t < SL_PAPER_ROUNDS; t++) {
		const struct sl_trace *trace = &w->run.rounds[t].trace;
		sl_trace_csv(&csv, trace, w->names[t]);
		least = trace->k < least ? trace->k : least;
		most = trace->k > most ? trace->k : most;
		ended += sl_trace_wrong(trace, trace->k) == 0;
		at_ten += sl_trace_wrong(trace, SL_PAPER_K) == 0;
	}
	sl_paper_claim(w->r, 'a', ended == SL_PAPER_ROUNDS ? SL_HOLDS : SL_HOLDS_NOT,
		       "in every round over changing graphs all trajectories end at the true mean",
		       "6 of 6 rounds",
		       "%u of %u rounds, with K = %" PRIu64 " to %" PRIu64 " from each graph", ended,
		       SL_PAPER_ROUNDS, least, most);
	sl_paper_claim(w->r, 'a', at_ten == SL_PAPER_ROUNDS ? SL_HOLDS : SL_HOLDS_NOT,
		       "K = 10 iterations are enough on changing graphs", "6 of 6 rounds",
		       "%u of %u rounds are right at k = 10", at_ten, SL_PAPER_ROUNDS);
	return SL_OK;
}

static int part_a(struct rounds *w, struct sl_error *error)
{
	sl_document_heading(w->r, "a. Six rounds over changing graphs");
	sl_document_text(w->r,
			 "%u learners train an autoencoder of %zu parameters, p = %" PRIu64
			 ", three decimal digits (encoding: weighted). "
			 "In each round the learners are connected by another graph. K is computed from the "
			 "graph, by each learner for "
			 "itself; the paper takes K = %u.",
			 w->learners, w->run.plan->parameters, SL_PAPER_P, SL_PAPER_K);
	draw_rounds(w);
	return tell_rounds(w, error);
}

/* ---- part b ---- */

static void draw_coordinate(struct rounds *w, uint32_t l)
{
	char title[32];
	snprintf(title, sizeof title, "Coordinate %u", l + 1);
	sl_document_panel(w->r, title, "round", "value", "");
	fprintf(w->r->plots.out,
		"plot rows('b_consensus.csv', '%u') using 2:3 with linespoints title 'consensus', \\\n"
		"  rows('b_consensus.csv', '%u') using 2:5 with linespoints title 'difference'\n",
		l + 1, l + 1);
}

/* The largest distance of a decoded coordinate from the mean of the floats. */
static double furthest(const struct rounds *w)
{
	double most = 0;
	for (uint32_t t = 0; t < SL_PAPER_ROUNDS; t++)
		for (uint32_t l = 0; l < w->run.plan->parameters; l++)
			most = fmax(most, fabs(decoded(w, w->run.rounds[t].z, l) - w->run.rounds[t].mean[l]));
	return most;
}

/* How many of the shown points differ; all go to the table. */
static uint32_t write_points(const struct rounds *w, struct sl_csv *csv)
{
	uint32_t differ = 0;
	for (uint32_t i = 0; i < PICKED; i++)
		for (uint32_t t = 0; t < SL_PAPER_ROUNDS; t++) {
			const struct sl_run_round *round = &w->run.rounds[t];
			double value = decoded(w, round->z, picked[i]),
			       truth = decoded(w, round->sum, picked[i]);
			sl_csv_whole(csv, picked[i] + 1);
			sl_csv_whole(csv, t + 1);
			sl_csv_real(csv, value);
			sl_csv_real(csv, truth);
			sl_csv_real(csv, value - truth);
			sl_csv_real(csv, round->mean[picked[i]]);
			sl_csv_end(csv);
			differ += value != truth;
		}
	return differ;
}

static int part_b(struct rounds *w, struct sl_error *error)
{
	struct sl_csv csv;
	FILE *out = sl_paper_folder_file(&w->r->folder, "b_consensus.csv", error);
	if (out == NULL)
		return error->code;
	sl_csv_open(&csv, out, "coordinate,round,consensus,truth,difference,mean_of_floats");
	uint32_t differ = write_points(w, &csv);
	uint64_t wrong = 0;
	for (uint32_t t = 0; t < SL_PAPER_ROUNDS; t++)
		wrong += w->run.rounds[t].wrong;
	sl_document_heading(w->r, "b. Consensus against ground truth");
	sl_document_figure(w->r, "b_consensus", 1, PICKED);
	for (uint32_t i = 0; i < PICKED; i++)
		draw_coordinate(w, picked[i]);
	sl_document_caption(w->r,
			    "The committed value, the same at all learners, and its difference from the mean "
			    "of the encodings, "
			    "which is summed up here without shares or mixing. Against the mean of the "
			    "floats it is at most %.2g: "
			    "half of the last digit that the encoding keeps.",
			    furthest(w));
	sl_paper_claim(w->r, 'b', differ + wrong == 0 ? SL_HOLDS : SL_HOLDS_NOT,
		       "consensus minus ground truth is 0 at three coordinates", "0 in every round",
		       "0 at %u of %u points; of all coordinates, rounds and learners %" PRIu64 " differ",
		       PICKED * SL_PAPER_ROUNDS - differ, PICKED * SL_PAPER_ROUNDS, wrong);
	return SL_OK;
}

/* ---- both ---- */

static int play(struct rounds *w, struct sl_schedule *schedule, struct sl_trainer *const *trainers,
		const char *const *set, struct sl_error *error)
{
	struct sl_run_plan plan = {.what = "six rounds",
				   .learners = w->learners,
				   .parameters = trainers[0]->ops->parameters(trainers[0]),
				   .schedule = schedule,
				   .mixing = "metropolis",
				   .set = set,
				   .coordinates = w->coordinates,
				   .coordinate_count = WATCHED,
				   .shown = w->picked_at[DRAWN],
				   .trainers = trainers};
	int rc = sl_run_open(&w->run, &plan, error);
	if (rc != SL_OK)
		return rc;
	rc = sl_run_play(&w->run, w->r, error);
	if (rc == SL_OK && sl_paper_wanted(w->r, 'a'))
		rc = part_a(w, error);
	if (rc == SL_OK && sl_paper_wanted(w->r, 'b'))
		rc = part_b(w, error);
	sl_run_close(&w->run);
	return rc;
}

static int with_trainers(struct rounds *w, struct sl_schedule *schedule, struct sl_error *error)
{
	char data[SL_PATH_BYTES + 8], p[32];
	const char *const set[] = {"rounds=6",
				   "hidden_units=1",
				   "decimals=3",
				   "clipping_range=5",
				   "privacy_check=warn",
				   p,
				   data,
				   w->r->options.quick ? "epochs=1" : NULL,
				   NULL};
	struct sl_settings settings;
	struct sl_trainer **trainers;
	snprintf(p, sizeof p, "modulus=%" PRIu64, SL_PAPER_P);
	snprintf(data, sizeof data, "data=%s", w->r->options.data);
	int rc = sl_runner_settings(set, sl_run_set_count(set), schedule, &settings, error);
	if (rc == SL_OK)
		rc = sl_trainers_open(&settings, w->learners, &trainers, error);
	if (rc != SL_OK)
		return rc;
	rc = play(w, schedule, trainers, set, error);
	sl_trainers_close(trainers, w->learners);
	return rc;
}

int sl_paper_rounds(struct sl_paper *r, struct sl_error *error)
{
	bool quick = r->options.quick;
	struct rounds w = {.r = r,
			   .learners = quick ? QUICK_LEARNERS : SL_PAPER_LEARNERS,
			   .names = quick ? quick_names : names};
	struct sl_schedule schedule;
	int rc = SL_OK;
	choose_coordinates(&w);
	sl_schedule_init(&schedule, w.learners);
	for (uint32_t t = 0; rc == SL_OK && t < SL_PAPER_ROUNDS; t++)
		rc = sl_step_add(&schedule, (quick ? quick_graphs : graphs)[t], t + 1, error);
	if (rc == SL_OK)
		rc = with_trainers(&w, &schedule, error);
	sl_schedule_close(&schedule);
	return rc;
}
