/* What a plan says by itself: vectors as they lie on the wire, what grows with what, which engine can run. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/limits.h"
#include "test/lib/test.h"
#include "tools/estimate/estimate.h"

#define MBIT 125000.0

static struct sl_estimate_input input_of(const char *topology, uint32_t n, uint64_t floats)
{
	struct sl_estimate_input in = {
		.floats = floats, .p = SL_P_MERSENNE31, .speed = 100 * MBIT, .delay = 1e-3};
	struct sl_family t;
	const char *why;
	in.machine = sl_estimate_machine_usual;
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
		for (uint32_t width = 4; width <= 8; width++) {
			double bytes = sl_estimate_vector_bytes(counts[i], width),
			       bare = (double)counts[i] * width;
			assert_true(bytes > bare + 60 && bytes < 1.002 * bare + 150);
		}
	assert_true(sl_estimate_vector_bytes(32769, 4) - sl_estimate_vector_bytes(32768, 4) >
		    60); /* another frame */
}

/* The ring of protocol.md's table: exact takes floor(N/2) exchanges, tree 2 floor(N/2) steps of one vector
 * each. */
TEST(the_table_of_bytes)
{
	struct sl_estimate_input in = input_of("ring", 10, 100000);
	struct sl_estimated p = plan_of(&in);
	double v = sl_estimate_vector_bytes(100001, 4), v8 = sl_estimate_vector_bytes(100001, 8);
	const struct sl_estimate_cost *exact = &p.costs[SL_ESTIMATE_EXACT][SL_ESTIMATE_ADDITIVE],
				      *tree = &p.costs[SL_ESTIMATE_TREE][SL_ESTIMATE_SEEDED];
	const struct sl_estimate_cost *metropolis = &p.costs[SL_ESTIMATE_METROPOLIS][SL_ESTIMATE_SHAMIR];
	double flood = p.flood_bytes / 10; /* of a learner */
	assert_true(flood > 2 * 11 * 100 && flood < 2 * 11 * 500);
	assert_int_equal(exact->exchanges, 5);
	assert_true(fabs(exact->bytes_mean - (2 * v + 5 * 2 * v + flood)) < 1);
	assert_true(fabs(exact->bytes_most - exact->bytes_mean) < 1);
	assert_true(fabs(metropolis->bytes_mean - (2 * v + (double)p.k * 2 * v8 + flood)) < 1);
	assert_int_equal(tree->exchanges, 10);
	double sent = 10 * (tree->bytes_mean - flood);
	assert_true(sent > (3 * 10 - 2) * v && sent < (3 * 10 - 2) * v + 10 * 2 * 300);
	assert_true(fabs(exact->bytes_all - 10 * exact->bytes_mean) < 1);
}

TEST(more_costs_more)
{
	struct sl_estimate_input in = input_of("regular:6", 50, 100000), more = in;
	more.floats *= 2;
	struct sl_estimated a = plan_of(&in), b = plan_of(&more);
	for (int e = 0; e < SL_ESTIMATE_ENGINES; e++)
		for (int s = 0; s < SL_ESTIMATE_SHARINGS; s++) {
			const struct sl_estimate_cost *x = &a.costs[e][s], *y = &b.costs[e][s];
			assert_true(x->possible && y->possible && x->exchanges == y->exchanges);
			assert_true(y->bytes_mean > 1.9 * x->bytes_mean && y->cpu_s > x->cpu_s &&
				    y->seconds > x->seconds);
			assert_true(y->memory > x->memory && x->bytes_most >= x->bytes_mean);
		}
}

TEST(faster_links_are_no_slower)
{
	struct sl_estimate_input in = input_of("regular:6", 50, 1000000), fast = in, near = in;
	fast.speed *= 10;
	near.delay = 0;
	struct sl_estimated a = plan_of(&in), b = plan_of(&fast), c = plan_of(&near);
	for (int e = 0; e < SL_ESTIMATE_ENGINES; e++) {
		const struct sl_estimate_cost *cost = &a.costs[e][SL_ESTIMATE_ADDITIVE];
		assert_true(b.costs[e][SL_ESTIMATE_ADDITIVE].seconds < cost->seconds);
		assert_true(cost->seconds - c.costs[e][SL_ESTIMATE_ADDITIVE].seconds >
			    1e-3 * (double)cost->exchanges);
	}
	/* 44 vectors of 4 MB over 100 Mbit/s, and half a dozen for the tree */
	assert_true(a.costs[SL_ESTIMATE_TREE][SL_ESTIMATE_SEEDED].seconds <
		    a.costs[SL_ESTIMATE_EXACT][SL_ESTIMATE_SEEDED].seconds);
}

/* Where nothing but links takes time, the signed records of a learner go over its own once. */
TEST(records_take_their_time)
{
	struct sl_estimate_input in = input_of("complete", 100, 1);
	in.machine = (struct sl_estimate_machine){.processors = 1};
	in.delay = 0;
	struct sl_estimated p = plan_of(&in);
	const struct sl_estimate_cost *exact = &p.costs[SL_ESTIMATE_EXACT][SL_ESTIMATE_ADDITIVE];
	assert_true(fabs(exact->seconds - exact->bytes_most / in.speed) < 1e-9);
}

TEST(together_they_share_the_processors)
{
	struct sl_estimate_input in = input_of("complete", 20, 1000000);
	in.speed = 0;
	in.machine.record_s = 0;
	struct sl_estimated two = plan_of(&in);
	in.machine.processors = 4;
	struct sl_estimated four = plan_of(&in);
	double ratio = two.costs[SL_ESTIMATE_EXACT][SL_ESTIMATE_SHAMIR].seconds /
		       four.costs[SL_ESTIMATE_EXACT][SL_ESTIMATE_SHAMIR].seconds;
	assert_true(fabs(ratio - 2) < 1e-9);
	in.machine.processors = 64; /* more than learners are of no use */
	struct sl_estimated many = plan_of(&in);
	in.machine.processors = 20;
	struct sl_estimated as_many = plan_of(&in);
	assert_true(many.costs[0][0].seconds == as_many.costs[0][0].seconds);
}

TEST(metropolis_has_its_limits)
{
	struct sl_estimate_input in = input_of("line", 1000, 1000);
	struct sl_estimated p = plan_of(&in);
	assert_true(p.k > SL_ITERATIONS_MAX);
	assert_false(p.costs[SL_ESTIMATE_METROPOLIS][0].possible);
	assert_true(p.costs[SL_ESTIMATE_EXACT][0].possible && p.costs[SL_ESTIMATE_TREE][0].possible);
	in = input_of("regular:10", 100, 1000);
	in.p = (UINT64_C(1) << 61) - 1;
	p = plan_of(&in);
	assert_false(p.costs[SL_ESTIMATE_METROPOLIS][0].possible);
	in.graph.degree_r = 0;
	p = plan_of(&in);
	assert_false(p.costs[SL_ESTIMATE_EXACT][0].possible);
}

TEST(a_million_learners)
{
	struct sl_estimate_input in = input_of("regular:16", 1000000, 50992);
	in.p = (UINT64_C(1) << 40) - 87;
	struct sl_estimated p = plan_of(&in);
	const struct sl_estimate_cost *tree = &p.costs[SL_ESTIMATE_TREE][SL_ESTIMATE_SEEDED];
	assert_true(tree->possible && isfinite(tree->seconds) &&
		    tree->bytes_mean - p.flood_bytes / 1e6 < 4 * sl_estimate_vector_bytes(50993, 5));
}

TEST(a_machine_can_be_measured)
{
	struct sl_estimate_machine m = sl_estimate_machine_usual;
	assert_int_equal(sl_estimate_machine_measure(&m), SL_OK);
	assert_true(m.additive_ns > 0 && m.seeded_ns > 0 && m.gather_ns > 0 && m.metropolis_ns > 0 &&
		    m.exact_ns > 0);
	assert_true(m.element_ns > 0 && m.verify_s > 0 && m.record_s > 0 && m.shamir_ns[1] >= 0);
	assert_true(m.shamir_ns[0] + 10 * m.shamir_ns[1] > 0);
	assert_true(m.byte_ns == sl_estimate_machine_usual.byte_ns);
}
