/* The choice of the engine (ROUND.md §8.5 Which engine a view uses), and of the keepers (§5.6 Deposits).
 */
#include "common/mixing/engine.h"
#include "test/lib/test.h"

/* clang-format off */
static const struct sl_engine_costs any_view = {
	.k = 9, .degree = 7, .depth = 2, .trees = 1, .load = 4, .busiest = 4, .elements = 100, .bits = 32};
static const struct sl_engine_costs complete_of_ten = {
	.k = 1, .degree = 1, .depth = 1, .trees = 10, .load = 18, .busiest = 9, .elements = 1000, .bits = 32};
static const struct sl_engine_costs ring_of_ten = {
	.k = 150, .degree = 5, .depth = 5, .trees = 10, .load = 18, .busiest = 2, .elements = 100, .bits = 32};
static const struct sl_engine_costs random_of_hundred = {
	.k = 32, .degree = 99, .depth = 20, .trees = 1, .load = 60, .busiest = 20, .elements = 10, .bits = 32};
static const struct sl_engine_costs five_far = {
	.k = 1, .degree = 1, .depth = 1, .trees = 5, .load = 8, .busiest = 4, .elements = 1000000, .bits = 22};
/* clang-format on */

static enum sl_engine choice(enum sl_engine wanted, struct sl_engine_costs costs, uint64_t steps)
{
	uint64_t found = 0;
	enum sl_engine engine = sl_engine_choose(wanted, &costs, &found);
	assert_int_equal(found, steps);
	return engine;
}

TEST(by_setting)
{
	struct sl_engine_costs all = any_view;
	assert_int_equal(choice(SL_ENGINE_EXACT, all, 7), SL_ENGINE_EXACT);
	assert_int_equal(choice(SL_ENGINE_METROPOLIS, all, 9), SL_ENGINE_METROPOLIS);
	assert_int_equal(choice(SL_ENGINE_FOREST, all, 4), SL_ENGINE_FOREST);
	all.degree = 0; /* r(1) = 0 */
	assert_int_equal(choice(SL_ENGINE_EXACT, all, 9), SL_ENGINE_METROPOLIS);
	all.k = SL_ITERATIONS_NONE;
	assert_int_equal(choice(SL_ENGINE_EXACT, all, 4), SL_ENGINE_FOREST);
	all.k = 0; /* not computed: p is too wide */
	assert_int_equal(choice(SL_ENGINE_EXACT, all, 4), SL_ENGINE_FOREST);
}

/* A chunk goes up and down every tree, and 8 MB are under way, but no more than 128 chunks. */
TEST(window_of_forest)
{
	struct sl_engine_costs costs = {
		.depth = 3, .trees = 5, .load = 8, .busiest = 4, .elements = 5 * 32768, .bits = 32};
	assert_int_equal(sl_engine_window(SL_ENGINE_FOREST, &costs), 64); /* of 131,072 bytes */
	costs.bits = 61;
	assert_int_equal(sl_engine_window(SL_ENGINE_FOREST, &costs), 34); /* of 249,856 bytes */
	costs.trees = 16;
	costs.elements = 16 * 32768;
	assert_int_equal(sl_engine_window(SL_ENGINE_FOREST, &costs), 40); /* 4 + 2 · 15 + 2 · 3 */
	costs.bits = 12;
	assert_int_equal(sl_engine_window(SL_ENGINE_FOREST, &costs), 128);
	assert_int_equal(sl_engine_window_most(&costs), 128);
	costs.trees = costs.depth = 0; /* not analysed */
	assert_int_equal(sl_engine_window(SL_ENGINE_FOREST, &costs), SL_WINDOW);
}

/* On a complete graph of ten, a learner sends its vector to nine; by forest, a tenth of it 18 times, and its
 * deposit to one. */
TEST(cheapest)
{
	struct sl_engine_costs complete = complete_of_ten;
	assert_int_equal(choice(SL_ENGINE_AUTO, complete, 1), SL_ENGINE_EXACT);
	complete.elements = 10000000;
	assert_int_equal(choice(SL_ENGINE_AUTO, complete, 2),
			 SL_ENGINE_FOREST); /* 2.8 vectors instead of 9 */
	complete.failed = true;		    /* 10.8 */
	assert_int_equal(choice(SL_ENGINE_AUTO, complete, 1), SL_ENGINE_EXACT);
	struct sl_engine_costs ring = ring_of_ten;
	assert_int_equal(choice(SL_ENGINE_AUTO, ring, 5),
			 SL_ENGINE_EXACT); /* half the steps, and little to send */
	ring.elements = 1000000;
	assert_int_equal(choice(SL_ENGINE_AUTO, ring, 10), SL_ENGINE_FOREST); /* 2.8 vectors instead of 10 */
	ring.failed = true;
	assert_int_equal(choice(SL_ENGINE_AUTO, ring, 10), SL_ENGINE_FOREST); /* 3.8 */
	struct sl_engine_costs random = random_of_hundred;
	assert_int_equal(choice(SL_ENGINE_AUTO, random, 40), SL_ENGINE_FOREST); /* metropolis is not asked */
	random.k = SL_ITERATIONS_NONE;
	assert_int_equal(choice(SL_ENGINE_AUTO, random, 40), SL_ENGINE_FOREST);
	random.depth = 60;
	assert_int_equal(choice(SL_ENGINE_AUTO, random, 99), SL_ENGINE_EXACT);
	random.degree = 0;
	assert_int_equal(choice(SL_ENGINE_AUTO, random, 120), SL_ENGINE_FOREST);
}

/* Five learners, each linked to all: exact sends 4 vectors and waits for nothing, forest sends 2.6 and waits
 * for 6 hops. On long links, or with short vectors, waiting costs more. */
TEST(waits_for_hops)
{
	struct sl_engine_costs far = five_far;
	assert_int_equal(choice(SL_ENGINE_AUTO, far, 2), SL_ENGINE_FOREST);
	far.hop_bytes = 1 << 20; /* 20 MB/s, 100 ms there and back */
	assert_int_equal(choice(SL_ENGINE_AUTO, far, 1), SL_ENGINE_EXACT);
	far.hop_bytes = 1 << 12; /* 2 MB/s, 2 ms */
	far.elements = 20000;
	assert_int_equal(choice(SL_ENGINE_AUTO, far, 2), SL_ENGINE_FOREST);
	far.hop_bytes = 0; /* not measured: as 65,536 */
	assert_int_equal(choice(SL_ENGINE_AUTO, far, 1), SL_ENGINE_EXACT);
}

/* The price does not overflow at the limits. */
TEST(no_overflow)
{
	struct sl_engine_costs most = {.k = SL_ITERATIONS_MAX,
				       .degree = SL_LEARNERS_MAX - 1,
				       .depth = 1,
				       .trees = 1,
				       .load = 2,
				       .busiest = SL_LEARNERS_MAX - 1,
				       .elements = SL_ELEMENTS_MAX,
				       .bits = 64,
				       .hop_bytes = SL_HOP_BYTES_MAX};
	assert_int_equal(choice(SL_ENGINE_AUTO, most, 2), SL_ENGINE_FOREST);
}

/* --- what follows from it --- */

/* Deposits go by the tree where nothing but forest can mix, whatever K the Readys will announce. */
TEST(keepers)
{
	struct sl_engine_costs costs = ring_of_ten;
	for (int pass = 0; pass < 3; pass++) {
		bool cheaper = pass == 1, alone = pass == 2;
		costs.elements = cheaper ? 1000000 : 100;
		costs.degree = alone ? 0 : 5;
		static const uint64_t ks[] = {0, 1, 9, SL_ITERATIONS_NONE};
		for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
			costs.k = ks[i];
			costs.failed = false;
			assert_false(sl_engine_deposits_forest(SL_ENGINE_EXACT, &costs));
			assert_false(sl_engine_deposits_forest(SL_ENGINE_METROPOLIS, &costs));
			assert_true(sl_engine_deposits_forest(SL_ENGINE_FOREST, &costs));
			assert_int_equal(sl_engine_deposits_forest(SL_ENGINE_AUTO, &costs), cheaper || alone);
			costs.failed = true;
			assert_false(sl_engine_deposits_forest(SL_ENGINE_FOREST, &costs));
			assert_false(sl_engine_deposits_forest(SL_ENGINE_AUTO, &costs));
		}
	}
}

/* Only on a complete graph, where exact adds verified deposits, nothing has to be checked afterwards. */
TEST(sums_of_others)
{
	assert_false(sl_engine_partial_sums(SL_ENGINE_EXACT, 1));
	assert_true(sl_engine_partial_sums(SL_ENGINE_EXACT, 2));
	assert_true(sl_engine_partial_sums(SL_ENGINE_METROPOLIS, 1));
	assert_true(sl_engine_partial_sums(SL_ENGINE_FOREST, 2));
}
