#include "test/graph/graphs.h"
#include "test/lib/test.h"

#include "common/field/metropolis.h"
#include "common/mixing/spectrum.h"

#define EDGE (INT64_C(1) << 62)

static void check_division(const struct sl_divisor *divisor, int64_t x)
{
	if (x <= -EDGE || x >= EDGE)
		return;
	if ((int64_t)sl_metropolis_quotient(divisor, (uint64_t)x) != x / (int64_t)divisor->d)
		fail_msg("%lld / %u", (long long)x, divisor->d);
}

static void around(const struct sl_divisor *divisor, int64_t x)
{
	for (int64_t step = -2; step <= 2; step++) {
		check_division(divisor, x + step);
		check_division(divisor, -(x + step));
	}
}

/* Every divisor at the ends of the range and around the largest multiples, where a wrong magic shows first.
 */
TEST(division_edges)
{
	for (uint32_t d = 2; d < 1u << 20; d += d < 5000 ? 1 : 37) {
		struct sl_divisor divisor;
		sl_metropolis_divisor_init(&divisor, d);
		int64_t last = (EDGE - 1) / d * d;
		around(&divisor, 0);
		around(&divisor, d);
		around(&divisor, last);
		around(&divisor, last - d);
		around(&divisor, EDGE - 1);
		around(&divisor, (INT64_C(1) << 31));
		around(&divisor, (INT64_C(1) << 32) / d * d);
	}
	struct sl_divisor divisor;
	sl_metropolis_divisor_init(&divisor, (1u << 20) - 1);
	around(&divisor, (EDGE - 1) / divisor.d * divisor.d);
}

TEST(division_random)
{
	uint64_t seed = 3;
	struct sl_divisor divisor;
	for (int n = 0; n < 3000000; n++) {
		if (n % 16 == 0)
			sl_metropolis_divisor_init(
				&divisor, 2 + (uint32_t)(any64(&seed) >> (44 + any64(&seed) % 19)) % 1048574);
		int64_t x = (int64_t)any64(&seed) >> (any64(&seed) % 62);
		check_division(&divisor, x);
		check_division(&divisor, x / divisor.d * divisor.d);
		check_division(&divisor, x / divisor.d * divisor.d - 1);
	}
}

/* A graph, its states, and one iteration over all learners as learners do it. */
struct network {
	struct sl_graph graph;
	size_t n;
	int64_t *X, *old;
	struct sl_arena arena;
};

static struct network network_open(const char *text, uint32_t learners, size_t n, uint32_t f, uint64_t p)
{
	struct network s = {.n = n, .arena = arena_of((size_t)64 << 20)};
	s.graph = graph_in(&s.arena, text, learners);
	s.X = SL_ARENA_TAKE(&s.arena, learners * n, int64_t);
	s.old = SL_ARENA_TAKE(&s.arena, learners * n, int64_t);
	uint64_t seed = 4;
	for (size_t i = 0; i < learners * n; i++)
		((uint64_t *)s.X)[i] = any64(&seed) % 3 == 0 ? p - 1 : any64(&seed) % p; /* extremes, too */
	sl_metropolis_open((uint64_t *)s.X, f, learners * n, s.X);
	return s;
}

/* `turn` rotates the order in which the neighbours' states are handed over; `skew` misaligns them. */
static void mix_all(struct network *s, uint32_t turn, size_t skew)
{
	const uint8_t *states[64];
	struct sl_divisor divisors[64];
	size_t bytes = s->graph.n * s->n * sizeof *s->X, mark = sl_arena_mark(&s->arena);
	uint8_t *wire = sl_arena_take(&s->arena, bytes + skew, 1);
	assert_non_null(wire);
	memcpy(wire + skew, s->X, bytes);
	for (uint32_t i = 0; i < s->graph.n; i++) {
		uint32_t degree = sl_graph_degree(&s->graph, i);
		for (uint32_t r = 0; r < degree; r++) {
			uint32_t j = sl_graph_neighbours(&s->graph, i)[(r + turn) % degree];
			states[r] = wire + skew + j * s->n * sizeof *s->X;
			sl_metropolis_divisor_init(&divisors[r], sl_graph_metropolis(&s->graph, i, j));
		}
		sl_metropolis_step(s->X + i * s->n, s->n, states, divisors, degree);
	}
	sl_arena_reset(&s->arena, mark);
}

static __int128 total_of(const struct network *s, size_t l)
{
	__int128 total = 0;
	for (uint32_t i = 0; i < s->graph.n; i++)
		total += s->X[i * s->n + l];
	return total;
}

/* The rule of ROUND.md §8.2 metropolis, one edge at a time with C's own division. */
static void plain_mix(const struct network *s, int64_t *X)
{
	memcpy(X, s->X, s->graph.n * s->n * sizeof *X);
	for (uint32_t i = 0; i < s->graph.n; i++)
		for (uint32_t r = 0; r < sl_graph_degree(&s->graph, i); r++)
			for (size_t l = 0; l < s->n; l++) {
				uint32_t j = sl_graph_neighbours(&s->graph, i)[r];
				int64_t gap = s->X[j * s->n + l] - s->X[i * s->n + l];
				X[i * s->n + l] += gap / (int64_t)sl_graph_metropolis(&s->graph, i, j);
			}
}

/* In any order of the neighbours. The rule is odd, so that no total changes. */
TEST(steps_follow_the_rule)
{
	static const char *const shapes[] = {"line", "star", "regular:6", "complete", "grid"};
	for (size_t g = 0; g < 5; g++) {
		struct network s = network_open(shapes[g], 20, 1100, 18, (UINT64_C(1) << 44) - 17);
		for (int k = 0; k < 5; k++) {
			plain_mix(&s, s.old);
			mix_all(&s, (uint32_t)k, (size_t)k);
			assert_memory_equal(s.X, s.old, 20 * s.n * sizeof *s.X);
		}
		arena_free(&s.arena);
	}
}

/* K from the spectrum brings every learner to the plain sum, with a margin below 3/8; far fewer do not. */
TEST(enough_iterations)
{
	static const char *const shapes[] = {"complete", "ring", "star", "regular:4", "line"};
	struct sl_field field = field_of(1020431);
	for (size_t g = 0; g < 5; g++) {
		struct network s = network_open(shapes[g], 10, 40, 42, field.p);
		uint64_t want[40], z[40];
		double mu;
		assert_int_equal(sl_spectrum_mu(&s.graph, &s.arena, &mu), SL_OK);
		uint64_t K = sl_spectrum_iterations(field.p, 10, mu);
		assert_true(sl_spectrum_width_need(&s.graph, mu) <= 0x1p42);
		for (size_t l = 0; l < 40; l++)
			want[l] = (uint64_t)((total_of(&s, l) >> 42) % (__int128)field.p);
		for (uint64_t k = 0; k < K; k++) {
			if (k == K / 4 && K > 4) { /* not learner 0: a hub has the mean after one step */
				double early = sl_metropolis_close(&field, 10, 42, s.X + 9 * s.n, 40, z);
				assert_true(memcmp(z, want, sizeof z) != 0 && early > 0.1);
			}
			mix_all(&s, 0, 0);
		}
		for (uint32_t i = 0; i < 10; i++) {
			assert_true(sl_metropolis_close(&field, 10, 42, s.X + i * s.n, 40, z) < 0.375);
			assert_memory_equal(z, want, sizeof z);
		}
		arena_free(&s.arena);
	}
}

/* Halves go up; negative states and margins come out right; in place. */
TEST(closing)
{
	struct sl_field field = field_of(101);
	int64_t one = INT64_C(1) << 40;
	union {
		int64_t X[8];
		uint64_t z[8];
	} u = {.X = {0, one / 6, one / 6 + 1, -one / 6, -one / 6 - 1, one / 2, 100 * one, -one}};
	double margin = sl_metropolis_close(&field, 3, 40, u.X, 8, u.z);
	const uint64_t want[] = {0,   0, 1,	    0,
				 100, 2, 300 % 101, 98}; /* 3/2 goes up to 2; -1/2 - e down to -1 */
	assert_memory_equal(u.z, want, sizeof want);
	assert_true(margin == 0.5);
	int64_t quarter = one / 4, whole = 7 * one;
	assert_true(sl_metropolis_close(&field, 1, 40, &quarter, 1, u.z) == 0.25);
	assert_true(sl_metropolis_close(&field, 9, 40, &whole, 1, u.z) == 0 && u.z[0] == 63);
	int64_t worst = INT64_MIN; /* whatever a peer sends, the result is an element */
	sl_metropolis_close(&field, 2000, 1, &worst, 1, u.z);
	assert_true(u.z[0] < field.p);
}
