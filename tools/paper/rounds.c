/* Parts a and b: six rounds of training over changing graphs, and the value that every learner decodes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "tools/paper/csv.h"
#include "tools/paper/run.h"

#define PICKED 3u
/* Every 40th coordinate, and those that the paper shows: 1569, 2033 and 2040 of 2353 (from 0 here). */
static const uint32_t picked[PICKED] = {1568, 2032, 2039};
#define DRAWN 1u /* of the three: the first is a corner of the image, where nothing moves */
#define WATCHED 61u

/* From dense to sparse; in the last round the learners move. */
static const struct graphs {
	uint32_t learners;
	const char *topologies[SL_PAPER_ROUNDS], *names[SL_PAPER_ROUNDS];
} full = {SL_PAPER_LEARNERS,
	  {"regular:80", "regular:60", "regular:40", "regular:20", "regular:10", "geometric"},
	  {"80 neighbours", "60 neighbours", "40 neighbours", "20 neighbours", "10 neighbours",
	   "in range of each other"}},
  quick = {12,
	   {"regular:10", "regular:8", "regular:6", "regular:5", "regular:4", "geometric:0.7"},
	   {"10 neighbours", "8 neighbours", "6 neighbours", "5 neighbours", "4 neighbours",
	    "in range of each other"}};

struct rounds {
	struct sl_paper *r;
	const struct graphs *graphs;
	uint32_t coordinates[WATCHED], drawn_at; /* index of the drawn one */
	struct sl_run run;
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
	while (w->coordinates[w->drawn_at] != picked[DRAWN])
		w->drawn_at++;
}

static double decoded(const struct rounds *w, const uint64_t *z, uint32_t l)
{
	return (double)sl_field_centred(&w->run.field, z[l]) * w->run.rounds[0].trace.unit;
}

static void part_a(struct rounds *w)
{
	struct sl_paper *r = w->r;
	uint64_t least = UINT64_MAX, most = 0;
	uint32_t ended = 0, at_ten = 0;
	FILE *csv = sl_paper_folder_file(&r->folder, "a_trajectories.csv");
	sl_trace_header(csv, w->graphs->learners);
	for (uint32_t t = 0; t < SL_PAPER_ROUNDS; t++) {
		const struct sl_trace *trace = &w->run.rounds[t].trace;
		sl_trace_write(csv, trace, w->graphs->names[t]);
		least = trace->k < least ? trace->k : least;
		most = trace->k > most ? trace->k : most;
		ended += sl_trace_wrong(trace, trace->k) == 0;
		at_ten += sl_trace_wrong(trace, SL_PAPER_K) == 0;
		sl_paper_value(r, "a_graph", "'%s'", w->graphs->names[t]);
		sl_paper_value(r, "a_k", "%" PRIu64, trace->k);
		sl_paper_value(r, "a_right", "%" PRIu64, sl_trace_settled(trace));
		sl_paper_value(r, "a_value", "%.17g", decoded(w, w->run.rounds[t].sum, picked[DRAWN]));
	}
	sl_paper_value(r, "a_learners", "%u", w->graphs->learners);
	sl_paper_value(r, "a_parameters", "%zu", w->run.parameters);
	sl_paper_value(r, "a_coordinate", "%u", picked[DRAWN] + 1);
	sl_paper_claim(r, 'a', sl_paper_verdict(ended == SL_PAPER_ROUNDS),
		       "in every round over changing graphs all trajectories end at the true mean",
		       "6 of 6 rounds",
		       "%u of %u rounds, with K = %" PRIu64 " to %" PRIu64 " from each graph", ended,
		       SL_PAPER_ROUNDS, least, most);
	sl_paper_claim(r, 'a', sl_paper_verdict(at_ten == SL_PAPER_ROUNDS),
		       "K = 10 iterations are enough on changing graphs", "6 of 6 rounds",
		       "%u of %u rounds are right at k = 10", at_ten, SL_PAPER_ROUNDS);
}

/* Return the largest distance of a decoded coordinate from the mean of the floats. */
static double furthest(const struct rounds *w)
{
	double most = 0;
	for (uint32_t t = 0; t < SL_PAPER_ROUNDS; t++)
		for (uint32_t l = 0; l < w->run.parameters; l++)
			most = fmax(most, fabs(decoded(w, w->run.rounds[t].z, l) - w->run.rounds[t].mean[l]));
	return most;
}

static void part_b(struct rounds *w)
{
	FILE *csv = sl_paper_folder_file(&w->r->folder, "b_consensus.csv");
	uint32_t differ = 0;
	uint64_t wrong = 0;
	sl_csv_print(csv, "coordinate,round,consensus,truth,difference,mean_of_floats\n");
	for (uint32_t i = 0; i < PICKED; i++)
		for (uint32_t t = 0; t < SL_PAPER_ROUNDS; t++) {
			const struct sl_run_round *round = &w->run.rounds[t];
			double value = decoded(w, round->z, picked[i]),
			       truth = decoded(w, round->sum, picked[i]);
			sl_csv_print(csv, "%u,%u,%g,%g,%g,%g\n", picked[i] + 1, t + 1, value, truth,
				     value - truth, round->mean[picked[i]]);
			differ += value != truth;
		}
	for (uint32_t t = 0; t < SL_PAPER_ROUNDS; t++)
		wrong += w->run.rounds[t].wrong;
	sl_paper_value(w->r, "b_coordinates", "%u %u %u", picked[0] + 1, picked[1] + 1, picked[2] + 1);
	sl_paper_value(w->r, "b_furthest", "%.2g", furthest(w));
	sl_paper_claim(w->r, 'b', sl_paper_verdict(differ + wrong == 0),
		       "consensus minus ground truth is 0 at three coordinates", "0 in every round",
		       "0 at %u of %u points; of all coordinates, rounds and learners %" PRIu64 " differ",
		       PICKED * SL_PAPER_ROUNDS - differ, PICKED * SL_PAPER_ROUNDS, wrong);
}

int sl_paper_rounds(struct sl_paper *r, struct sl_error *error)
{
	struct rounds w = {.r = r, .graphs = r->options.quick ? &quick : &full};
	choose_coordinates(&w);
	struct sl_run_plan plan = {.what = "six rounds",
				   .learners = w.graphs->learners,
				   .data = r->options.data,
				   .coordinates = w.coordinates,
				   .coordinate_count = WATCHED,
				   .shown = w.drawn_at};
	snprintf(plan.set, sizeof plan.set,
		 "rounds=6 hidden_units=1 decimals=3 clipping_range=5 privacy_check=warn mixing=metropolis "
		 "%s " SL_PAPER_MODULUS,
		 r->options.quick ? "epochs=1" : "");
	for (uint32_t t = 0; t < SL_PAPER_ROUNDS; t++)
		plan.topologies[t] = w.graphs->topologies[t];
	int rc = sl_run_start(&w.run, &plan, r, error);
	if (rc == SL_OK && sl_paper_wanted(r, 'a'))
		part_a(&w);
	if (rc == SL_OK && sl_paper_wanted(r, 'b'))
		part_b(&w);
	sl_run_close(&w.run);
	return rc;
}
