#include "test/graph/graphs.h"
#include "test/lib/test.h"

#include <math.h>

#include "common/mixing/spectrum.h"

static double mu_of(const struct sl_graph *graph)
{
	double mu = -1;
	size_t used = sl_arena_mark(&arena);
	assert_int_equal(sl_spectrum_mu(graph, &arena, &mu), SL_OK);
	assert_int_equal(sl_arena_mark(&arena), used);
	return mu;
}

/* mu is never below the true value and at most 2e-12 above it. */
static void expect_mu(const char *text, uint32_t n, double want)
{
	struct sl_graph graph = graph_of(text, n);
	double mu = mu_of(&graph);
	if (!(mu >= want && mu <= want + 2e-12))
		fail_msg("%s on %u: mu %.15f, expected %.15f", text, n, mu, want);
}

TEST_SETUP(open_arena, close_arena)

TEST(closed_forms)
{
	for (uint32_t n = 2; n <= 40; n++) {
		expect_mu("complete", n, 0);
		if (n >= 3)
			expect_mu("star", n, 1 - 1.0 / n);
		if (n >= 3) {
			double second = (1 + 2 * cos(2 * M_PI / n)) / 3;
			double last = (1 + 2 * cos(2 * M_PI * (n / 2) / n)) / 3;
			expect_mu("ring", n, fmax(fabs(second), fabs(last)));
		}
	}
}

/* The paper's own graphs: the least eigenvalue decides, and K from the signed second one would be 20 and 107.
 */
TEST(papers_graphs)
{
	struct sl_graph forty = graph_of("neighbours:40", 100);
	double mu = mu_of(&forty);
	assert_true(fabs(mu - 0.7649) < 5e-5);
	assert_int_equal(sl_spectrum_iterations(1020431, 100, mu), 80);
	struct sl_graph twenty = graph_of("neighbours:20", 100);
	mu = mu_of(&twenty);
	assert_true(fabs(mu - 0.9048) < 5e-5);
	assert_int_equal(sl_spectrum_iterations(1020431, 100, mu), 215);
	assert_int_equal(sl_spectrum_iterations(1020431, 100, 0.3259),
			 20); /* lambda_2 as the paper prints it */
}

/* star 2,133 and line 65,155 are the numbers of ROUND.md §8 Engines. */
TEST(slow_graphs)
{
	struct sl_graph g = graph_of("star", 100);
	assert_int_equal(sl_spectrum_iterations(1020431, 100, mu_of(&g)), 2133);
	g = graph_of("line", 100);
	assert_int_equal(sl_spectrum_iterations(1020431, 100, mu_of(&g)), 65155);
}

TEST(special_graphs)
{
	struct sl_graph g = graph_of_edges(1, NULL, 0);
	double mu;
	assert_true(mu_of(&g) == 0);
	g = graph_of_edges(3, &(struct sl_edge){0, 1}, 1);
	assert_true(mu_of(&g) == 1);
	g = graph_of_edges(SL_LEARNERS_MAX + 1, NULL, 0);
	assert_int_equal(sl_spectrum_mu(&g, &arena, &mu), SL_ERR_RANGE);
	g = graph_of("ring", 50);
	struct sl_arena tiny = {.base = arena.base + arena.used, .size = sl_spectrum_scratch(50) / 2};
	assert_int_equal(sl_spectrum_mu(&g, &tiny, &mu), SL_ERR_NOMEM);
	struct sl_arena enough = {.base = arena.base + arena.used + 1, .size = sl_spectrum_scratch(50)};
	assert_int_equal(sl_spectrum_mu(&g, &enough, &mu), SL_OK);
}

/* K is the smallest: K works, K - 1 does not, in long double. */
TEST(iterations_are_least)
{
	uint64_t seed = 9;
	for (int n = 0; n < 20000; n++) {
		double mu = (double)(any64(&seed) >> 11) * 0x1p-53;
		uint64_t p = 3 + (any64(&seed) >> (3 + any64(&seed) % 58));
		uint32_t N = 2 + (uint32_t)(any64(&seed) % 1999);
		uint64_t K = sl_spectrum_iterations(p, N, mu);
		long double lead = logl(2 * (long double)p * N * sqrtl(N)), each = logl(mu);
		assert_true(lead + (long double)K * each < 1e-9L);
		assert_true(K == 1 || lead + (long double)(K - 1) * each > -1e-9L);
	}
	assert_int_equal(sl_spectrum_iterations(101, 2, 0), 1);
	assert_true(sl_spectrum_iterations(101, 2, 1) == UINT64_MAX);
	assert_true(sl_spectrum_iterations(101, 2, (double)NAN) == UINT64_MAX);
	/* 2 * 2^31 * 4^1.5 * (1/2)^35 is 1, not below it */
	assert_int_equal(sl_spectrum_iterations(UINT64_C(1) << 31, 4, 0.5), 36);
}

/* The bound on the spread falls below 1 after K, but for what rounding adds. */
TEST(spread_bound)
{
	struct sl_graph g = graph_of("neighbours:20", 100);
	double mu = mu_of(&g), rounding = ldexp(sl_spectrum_width_need(&g, mu) / 4, -42);
	assert_true(sl_spectrum_spread_bound(&g, mu, 1020431, 42, 0) >= 2.0 * 1020431 * 1000);
	assert_true(sl_spectrum_spread_bound(&g, mu, 1020431, 42, 215) < 1 + rounding);
	assert_true(sl_spectrum_spread_bound(&g, mu, 1020431, 42, 214) >= 1);
	assert_true(sl_spectrum_spread_bound(&g, mu, 1020431, 42, 1000000) == rounding && rounding > 0);
}

TEST(two_digits)
{
	static const struct {
		double value, wanted;
	} rows[] = {{0, 0}, {1, 1}, {1.249e10, 1.2e10}, {9.96, 10}, {0.00315, 0.0032}, {1e-310, 0}};
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		assert_true(fabs(sl_spectrum_two_digits(rows[k].value) - rows[k].wanted) <=
			    1e-12 * rows[k].wanted);
}

TEST(width)
{
	struct sl_graph g = graph_of("complete", 4); /* 6 edges, degree 3: sqrt(2*3*6) = 6 */
	assert_true(sl_spectrum_width_need(&g, 0.5) == 8 * 4 * 6 / 0.5);
	assert_true(isinf(sl_spectrum_width_need(&g, 1)));
	assert_int_equal(sl_spectrum_p_bits(0x1p18), 44);
	assert_int_equal(sl_spectrum_p_bits(0x1.0000001p18), 43);
	assert_int_equal(sl_spectrum_p_bits(0x1p62), 0);
	assert_int_equal(sl_spectrum_p_bits((double)INFINITY), 0);
	for (uint32_t bits = 3; bits <= 61; bits++) /* f of the answer reaches the need */
		assert_int_equal(sl_spectrum_p_bits(ldexp(1, (int)sl_spectrum_fraction_bits(bits))), bits);
}
