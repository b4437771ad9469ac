/* Estimates: vectors on the wire, how costs grow, which engines can run. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/limits.h"
#include "test/lib/test.h"
#include "tools/estimate/estimate.h"

static struct sl_estimate_input input_of(const char *topology, uint32_t n, uint64_t floats)
{
	struct sl_estimate_input in = {.floats = floats, .p = SL_P_MERSENNE31};
	struct sl_family t;
	const char *why;
	assert_int_equal(sl_family_read(topology, n, &t, &why), SL_OK);
	assert_int_equal(sl_estimate_family_figures(&t, n, &in.graph, NULL), SL_OK);
	return in;
}

static struct sl_estimated plan_of(const struct sl_estimate_input *in)
{
	struct sl_estimated planned;
	sl_estimate_cost_all(in, &planned);
	return planned;
}

TEST(a_vector_is_its_elements_and_a_little)
{
	static const uint64_t counts[] = {1000, 32768, 32769, 1000001, SL_ELEMENTS_MAX};
	for (size_t i = 0; i < 5; i++)
		for (uint32_t bits = 12; bits <= 64; bits++) {
			double bytes = sl_estimate_vector_bytes(counts[i], bits),
			       bare = (double)counts[i] * bits / 8;
			assert_true(bytes > bare + 60 && bytes < 1.004 * bare + 150);
		}
	assert_true(sl_estimate_vector_bytes(32769, 32) - sl_estimate_vector_bytes(32768, 32) >
		    60); /* another frame */
}

/* The ring of the table in graph.h: exact takes floor(N/2) exchanges, forest 2 floor(N/2) steps of one vector
 * each. */
TEST(the_table_of_bytes)
{
	struct sl_estimate_input in = input_of("ring", 10, 100000);
	struct sl_estimated p = plan_of(&in);
	double v = sl_estimate_vector_bytes(100001, 31), v8 = sl_estimate_vector_bytes(100001, 64);
	const struct sl_estimate_cost *exact = &p.costs[SL_ENGINE_EXACT][SL_SHARING_OS],
				      *forest = &p.costs[SL_ENGINE_FOREST][SL_SHARING_SEEDED];
	const struct sl_estimate_cost *metropolis = &p.costs[SL_ENGINE_METROPOLIS][SL_SHARING_SHAMIR];
	double flood = p.flood_bytes / 10; /* of a learner */
	assert_true(flood > 2 * 11 * 100 && flood < 2 * 11 * 900);
	assert_int_equal(exact->exchanges, 5);
	double keys = exact->bytes_mean - (2 * v + 5 * 2 * v + flood); /* a key share of two, and the key */
	assert_true(keys > 2 * (40 + 32 + 32) && keys < 2 * (40 + 32 + 32 + 250));
	assert_true(fabs(exact->bytes_most - exact->bytes_mean) < 1);
	assert_true(fabs(metropolis->bytes_mean -
			 (2 * v + 2 * v + ((double)p.k - 1) * 2 * v8 + keys + flood)) < 1);
	assert_int_equal(forest->exchanges, 10);
	double sent = 10 * (forest->bytes_mean - flood);
	assert_true(sent > (3 * 10 - 2) * v && sent < (3 * 10 - 2) * v + 10 * (2 * 300 + keys));
	assert_true(fabs(exact->bytes_all - 10 * exact->bytes_mean) < 1);
}

TEST(more_costs_more)
{
	struct sl_estimate_input in = input_of("regular:6", 50, 100000), more = in;
	more.floats *= 2;
	struct sl_estimated a = plan_of(&in), b = plan_of(&more);
	for (uint32_t e = 0; e < SL_ENGINES; e++)
		for (uint32_t s = 0; s < SL_SHARING_KINDS; s++) {
			const struct sl_estimate_cost *x = &a.costs[e][s], *y = &b.costs[e][s];
			assert_true(x->possible && y->possible && x->exchanges == y->exchanges);
			assert_true(y->bytes_mean - b.flood_bytes / 50 >
				    1.9 * (x->bytes_mean - a.flood_bytes / 50));
			assert_true(y->memory > x->memory && x->bytes_most >= x->bytes_mean);
		}
}

TEST(metropolis_has_its_limits)
{
	struct sl_estimate_input in = input_of("line", 1000, 1000);
	struct sl_estimated p = plan_of(&in);
	assert_true(p.k > SL_ITERATIONS_MAX);
	assert_false(p.costs[SL_ENGINE_METROPOLIS][0].possible);
	assert_true(p.costs[SL_ENGINE_EXACT][0].possible && p.costs[SL_ENGINE_FOREST][0].possible);
	in = input_of("regular:10", 100, 1000);
	in.p = (UINT64_C(1) << 61) - 1;
	p = plan_of(&in);
	assert_false(p.costs[SL_ENGINE_METROPOLIS][0].possible);
	in.graph.degree_r = 0;
	p = plan_of(&in);
	assert_false(p.costs[SL_ENGINE_EXACT][0].possible);
}

TEST(a_million_learners)
{
	struct sl_estimate_input in = input_of("regular:16", 1000000, 50992);
	in.p = (UINT64_C(1) << 40) - 87;
	struct sl_estimated p = plan_of(&in);
	const struct sl_estimate_cost *forest = &p.costs[SL_ENGINE_FOREST][SL_SHARING_SEEDED];
	assert_true(forest->possible &&
		    forest->bytes_mean - p.flood_bytes / 1e6 < 4 * sl_estimate_vector_bytes(50993, 40));
}
