/* The parts of the report compute known numbers; a wrong number is reported. */
#include "test/lib/test.h"

#include <math.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/mixing/spectrum.h"
#include "tools/paper/octave.h"
#include "tools/paper/run.h"
#include "tools/paper/spectrum.h"
#include "tools/paper/ways.h"

static void has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("no %s in %s", part, text);
}

#define NEAR(a, b, by) assert_true(fabs((a) - (b)) <= (by))

static struct sl_run_graph graph_named(const char *name, uint32_t learners)
{
	struct sl_run_graph graph;
	struct sl_error error = {0};
	if (sl_run_graph_open(&graph, name, learners, &error) != SL_OK)
		fail_msg("%s", error.text);
	return graph;
}

/* ---- eigenvalues and powers ---- */

static void eigen_are(const char *name, double lambda_2, double lambda_min)
{
	struct sl_run_graph graph = graph_named(name, 100);
	struct sl_eigen e;
	sl_spectrum_eigen(&graph.graph, &e);
	NEAR(e.lambda_2, lambda_2, 5.1e-5);
	NEAR(e.lambda_min, lambda_min, 5.1e-5);
	NEAR(e.mu, fmax(fabs(e.lambda_2), fabs(e.lambda_min)), 1e-15);
	sl_run_graph_close(&graph);
}

/* The paper's, to its four digits; and what it does not print. */
TEST(test_eigenvalues)
{
	eigen_are("complete", 0, 0);
	eigen_are("neighbours:40", 0.3259, -0.7649);
	eigen_are("neighbours:20", 0.8181, -0.9048);
	eigen_are("neighbours:10", 0.9555, -0.8182);
	eigen_are("star", 0.9900, 0);
	eigen_are("line", 0.9997, -0.3330);
}

TEST(test_norms)
{
	static const char *const names[] = {"star", "ring", "regular:4"};
	const double k[] = {1, 2, 3, 17, 200};
	for (int i = 0; i < 3; i++) {
		struct sl_run_graph graph = graph_named(names[i], 20);
		struct sl_eigen e;
		double norm[5];
		sl_spectrum_eigen(&graph.graph, &e);
		sl_spectrum_power_norms(&graph.graph, k, 5, norm);
		for (int j = 0; j < 5; j++)
			NEAR(norm[j] / (20 * pow(e.mu, k[j])), 1, 1e-9);
		sl_run_graph_close(&graph);
	}
}

/* ---- what is printed ---- */

TEST(test_shares)
{
	assert_true(sl_ways_share_distance(true) == 0);
	NEAR(sl_ways_share_distance(false), 1.0 / 6, 1e-12);
}

static void ways_are(const char *name, uint64_t p, bool reals, bool fixed)
{
	struct sl_run_graph graph = graph_named(name, 100);
	struct sl_ways_trial trial;
	struct sl_eigen e;
	sl_spectrum_eigen(&graph.graph, &e);
	assert_int_equal(sl_ways_trial_open(&trial, &graph.graph, e.mu, p), SL_OK);
	assert_int_equal(sl_ways_wrong(&trial, SL_WAY_PRODUCT) == 0, reals);
	assert_int_equal(sl_ways_wrong(&trial, SL_WAY_DIFFERENCE) == 0, reals);
	assert_int_equal(sl_ways_wrong(&trial, SL_WAY_FIXED), fixed ? 0 : SL_WAY_REFUSED);
	assert_int_equal(sl_ways_wrong(&trial, SL_WAY_PRINTED), 100 * SL_WAY_STATES);
	if (trial.k > 1) { /* K is needed */
		trial.k /= 2;
		assert_true(sl_ways_wrong(&trial, SL_WAY_PRODUCT) > 0);
	}
	sl_ways_trial_close(&trial);
	sl_run_graph_close(&graph);
}

TEST(test_ways)
{
	ways_are("neighbours:40", SL_PAPER_P, true, true);
	ways_are("star", SL_PAPER_P, true, true);
	ways_are("neighbours:10", (UINT64_C(1) << 44) - 17, false, false);
	ways_are("star", (UINT64_C(1) << 40) - 87, false, false);
}

/* ---- rounds ---- */

#define LEARNERS 6u
#define FLOATS 40u
static const uint32_t coordinates[] = {0, 7, 39};
static const struct sl_run_plan plan = {
	.what = "a run",
	.learners = LEARNERS,
	.parameters = FLOATS,
	.set = "rounds=2 decimals=3 clipping_range=5 mixing=metropolis " SL_PAPER_MODULUS,
	.coordinates = coordinates,
	.coordinate_count = 3,
	.shown = 1};

static void play(struct sl_run *run, struct sl_paper *r)
{
	struct sl_error error = {0};
	assert_int_equal(sl_run_open(run, &plan, &error), SL_OK);
	if (sl_run_play(run, r, &error) != SL_OK)
		fail_msg("%s", error.text);
}

TEST(test_run)
{
	struct sl_paper r = {.broken_count = 0};
	struct sl_run run;
	play(&run, &r);
	assert_int_equal(r.broken_count, 0);
	for (int t = 0; t < 2; t++) {
		const struct sl_run_round *round = &run.rounds[t];
		assert_int_equal(round->commits, LEARNERS);
		for (uint32_t l = 0; l < FLOATS; l++)
			NEAR((double)round->model[l], round->mean[l], 0.0005 + 1e-6);
		assert_true(sl_trace_whole(&round->trace));
		assert_true(sl_trace_settled(&round->trace) <= round->trace.k);
		double last = round->trace.values[round->trace.kept - 1];
		NEAR(last, (double)round->model[7], 1e-6);
	}
	sl_run_close(&run);
}

/* One element of one commit, a state of one iteration, a learner that is missing: each is told, and ends in
 * status 1. */
TEST(test_wrong_result)
{
	struct sl_paper r = {.broken_count = 0};
	struct sl_run run;
	play(&run, &r);
	uint8_t z[(FLOATS + 1) * sizeof(uint64_t)];
	sl_bytes_pack(z, run.rounds[1].sum, FLOATS + 1, run.field.bits);
	z[0] ^= 1;
	run.rounds[1].commits = LEARNERS - 1;
	sl_run_committed(&run, &(struct sl_runner_commit){
				       .t = 2, .z = z, .model = run.rounds[1].model, .p = run.field.p});
	sl_run_check(&run, &r);
	assert_int_equal(r.broken_count, 1);
	has(r.broken[0], "a run, round 2: 1 committed elements are not the plain sum");
	sl_run_close(&run);
}

TEST(test_wrong_mixing)
{
	struct sl_paper r = {.broken_count = 0};
	struct sl_run run;
	play(&run, &r);
	struct sl_trace *trace = &run.rounds[0].trace;
	trace->wrong[trace->k] = 1;
	sl_run_check(&run, &r);
	assert_int_equal(r.broken_count, 1);
	has(r.broken[0], "a run, round 1: wrong after all");
	trace->wrong[trace->k] = 0;
	trace->seen[1]--;
	sl_run_check(&run, &r);
	has(r.broken[1], "not every state was seen");
	run.rounds[1].commits--;
	sl_run_check(&run, &r);
	has(r.broken[3], "a run, round 2: 5 of 6 learners committed");
	sl_run_close(&run);
}

/* Right, wrong again, right: the iteration from which everything stays right is the later one. */
TEST(test_confirmed)
{
	uint64_t wrong[] = {9, 4, 0, 2, 0, 0};
	struct sl_trace trace = {.k = 5, .wrong = wrong};
	assert_int_equal(sl_trace_settled(&trace), 4);
	assert_int_equal(sl_trace_wrong(&trace, 1), 4);
	assert_int_equal(sl_trace_wrong(&trace, 100), 0);
	wrong[5] = 1;
	assert_int_equal(sl_trace_settled(&trace), 6);
	memset(wrong, 0, sizeof wrong);
	assert_int_equal(sl_trace_settled(&trace), 0);
}

static bool at_once(void)
{
	return true;
}

TEST(test_stopped)
{
	struct sl_paper r = {.stopped = at_once};
	struct sl_error error = {0};
	struct sl_run run;
	assert_int_equal(sl_run_open(&run, &plan, &error), SL_OK);
	assert_int_equal(sl_run_play(&run, &r, &error), SL_PENDING);
	sl_run_close(&run);
}

/* ---- Octave's output ---- */

TEST(test_octave_number)
{
	const char *line = "shares,mode=gemm,N=100,deg=87,n=2353,agg_s_per_learner=0.062";
	assert_true(sl_octave_number(line, "n") == 2353 && sl_octave_number(line, "N") == 100);
	assert_true(sl_octave_number(line, "agg_s_per_learner") == 0.062);
	assert_true(isnan(sl_octave_number(line, "s_per_learner")));
}
