/* The polynomial of the exact engine, against dense matrices and elimination. */
#include "test/graph/graphs.h"
#include "test/lib/test.h"

#include "common/mixing/minimal_polynomial.h"

#define DENSE_MOST 40u

/* Return true if the edge a-b is in the neighbour lists. */
static bool linked(const struct sl_graph *g, uint32_t a, uint32_t b)
{
	for (uint32_t k = 0; k < sl_graph_degree(g, a); k++)
		if (sl_graph_neighbours(g, a)[k] == b)
			return true;
	return false;
}

/* W as ROUND.md §8 Engines defines it, dense. */
static uint64_t *matrix_of(const struct sl_graph *g, const struct sl_field *field)
{
	uint64_t *w = SL_ARENA_TAKE(&arena, (size_t)g->n * g->n, uint64_t);
	for (uint32_t i = 0; i < g->n; i++) {
		uint64_t rest = 1;
		for (uint32_t j = 0; j < g->n; j++) {
			if (!linked(g, i, j))
				continue;
			uint32_t larger = sl_graph_degree(g, i) > sl_graph_degree(g, j)
						  ? sl_graph_degree(g, i)
						  : sl_graph_degree(g, j);
			uint64_t weight = sl_field_inverse(field, larger + 1);
			w[i * g->n + j] = weight;
			rest = sl_field_sub(field, rest, weight);
		}
		w[i * g->n + i] = rest;
	}
	return w;
}

/* next = W x over n x `columns` matrices. */
static void times(const struct sl_field *field, const uint64_t *w, const uint64_t *x, uint32_t n,
		  uint32_t columns, uint64_t *next)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t c = 0; c < columns; c++) {
			uint64_t sum = 0;
			for (uint32_t j = 0; j < n; j++)
				sum = sl_field_add(field, sum,
						   sl_field_mul(field, w[i * n + j], x[j * columns + c]));
			next[i * columns + c] = sum;
		}
}

/* Powers reduced against each other; `combination` says of which powers a row is made. */
struct powers {
	uint64_t *row[DENSE_MOST], combination[DENSE_MOST][DENSE_MOST + 1];
	size_t lead[DENSE_MOST], width;
	uint32_t count;
};

/* Return true if W^k, flattened in `row`, is a linear combination of the lower powers, and write its
 * coefficients to `combination`. */
static bool depends(struct powers *powers, const struct sl_field *field, uint64_t *row, uint64_t *combination)
{
	for (uint32_t b = 0; b < powers->count; b++) {
		uint64_t factor = row[powers->lead[b]];
		for (size_t c = 0; c < powers->width; c++)
			row[c] = sl_field_sub(field, row[c], sl_field_mul(field, factor, powers->row[b][c]));
		for (uint32_t k = 0; k <= DENSE_MOST; k++)
			combination[k] = sl_field_sub(field, combination[k],
						      sl_field_mul(field, factor, powers->combination[b][k]));
	}
	for (size_t c = 0; c < powers->width; c++)
		if (row[c] != 0) {
			powers->lead[powers->count] = c;
			return false;
		}
	return true;
}

static void keep(struct powers *powers, const struct sl_field *field, uint64_t *row,
		 const uint64_t *combination)
{
	uint32_t b = powers->count++;
	uint64_t scale = sl_field_inverse(field, row[powers->lead[b]]);
	for (size_t c = 0; c < powers->width; c++)
		row[c] = sl_field_mul(field, row[c], scale);
	for (uint32_t k = 0; k <= DENSE_MOST; k++)
		powers->combination[b][k] = sl_field_mul(field, combination[k], scale);
	powers->row[b] = row;
}

/* Brute force: the first power of W, on the basis e_c - e_(n-1) of what sums to zero, that depends on the
 * lower. */
static uint32_t least_polynomial(const struct sl_graph *g, const struct sl_field *field, uint64_t *r)
{
	uint32_t n = g->n, columns = n - 1;
	struct powers powers = {.width = (size_t)n * columns};
	uint64_t *w = matrix_of(g, field), *power = SL_ARENA_TAKE(&arena, powers.width, uint64_t);
	for (uint32_t c = 0; c < columns; c++) {
		power[c * columns + c] = 1;
		power[(n - 1) * columns + c] = field->p - 1;
	}
	for (uint32_t k = 0;; k++) {
		uint64_t *row = SL_ARENA_TAKE(&arena, powers.width, uint64_t),
			 combination[DENSE_MOST + 1] = {0};
		uint64_t *next = SL_ARENA_TAKE(&arena, powers.width, uint64_t);
		assert_true(row != NULL && next != NULL && k < n);
		memcpy(row, power, powers.width * sizeof *row);
		combination[k] = 1;
		if (depends(&powers, field, row, combination)) {
			memcpy(r, combination, (k + 1) * sizeof *r);
			return k;
		}
		keep(&powers, field, row, combination);
		times(field, w, power, n, columns, next);
		power = next;
	}
}

/* Z from the states as they pass, learner by learner, against the plain sum. */
static void expect_sum(const struct sl_graph *g, const struct sl_field *field, const uint64_t *r,
		       uint32_t degree, uint64_t seed)
{
	uint32_t n = g->n;
	uint64_t *w = matrix_of(g, field), *x = SL_ARENA_TAKE(&arena, n, uint64_t),
		 *next = SL_ARENA_TAKE(&arena, n, uint64_t);
	uint64_t *sum = SL_ARENA_TAKE(&arena, n, uint64_t), total = 0;
	uint64_t scale = sl_minimal_polynomial_scale(field, r, degree, n);
	for (uint32_t i = 0; i < n; i++) {
		x[i] = any64(&seed) % field->p;
		total = sl_field_add(field, total, x[i]);
	}
	for (uint32_t k = 0; k <= degree; k++) {
		for (uint32_t i = 0; i < n; i++)
			sum[i] = sl_field_add(field, sum[i], sl_field_mul(field, r[k], x[i]));
		times(field, w, x, n, 1, next);
		memcpy(x, next, n * sizeof *x);
	}
	for (uint32_t i = 0; i < n; i++)
		assert_true(sl_field_mul(field, scale, sum[i]) == total);
}

/* The same r as brute force, the same verdict on r(1), and the true sum of random x. */
static bool expect_minimal_polynomial(const struct sl_graph *g, const struct sl_field *field, uint64_t seed)
{
	uint64_t want[DENSE_MOST + 1], r[DENSE_MOST], at_one = 0;
	uint32_t degree = UINT32_MAX, want_degree = least_polynomial(g, field, want);
	uint8_t key[SL_HASH_BYTES] = {0};
	memcpy(key, &seed, sizeof seed);
	size_t used = sl_arena_mark(&arena);
	int err = sl_minimal_polynomial(g, field, key, r, &degree, &arena);
	assert_int_equal(sl_arena_mark(&arena), used);
	assert_int_equal(degree, want_degree);
	assert_memory_equal(r, want, (degree + 1) * sizeof *r);
	for (uint32_t k = 0; k <= degree; k++)
		at_one = sl_field_add(field, at_one, r[k]);
	assert_true(sl_minimal_polynomial_at_one(field, r, degree) == at_one);
	assert_int_equal(err, at_one == 0 ? SL_ERR_INVALID : SL_OK);
	if (err == SL_OK)
		expect_sum(g, field, r, degree, seed);
	return err == SL_OK;
}

static const uint64_t primes[] = {7, 11, 31, 1020431, SL_P_MERSENNE31, (UINT64_C(1) << 61) - 1};

TEST_SETUP(open_arena, close_arena)

/* Every graph up to 5 vertices; one that is not connected has r(1) = 0. */
TEST(all_small_graphs)
{
	for (uint32_t n = 2; n <= 5; n++) {
		for (uint64_t i = 0; i < 6 * graphs_on(n); i++) {
			struct sl_field field = field_of(primes[i % 6]);
			struct sl_graph g = graph_of_number(n, i / 6);
			bool usable = expect_minimal_polynomial(&g, &field, i);
			assert_false(usable && sl_graph_components(&g, NULL, &arena) > 1);
		}
	}
}

/* p little above N: projections miss factors, checks fail, and r is put together from several. */
TEST(small_primes)
{
	uint64_t seed = 12;
	for (uint32_t round = 0; round < 300; round++) {
		uint32_t n = 6 + (uint32_t)(any64(&seed) % (DENSE_MOST - 5));
		size_t count = n - 1;
		uint64_t p = n + 1;
		struct sl_edge edges[3 * DENSE_MOST];
		while (!sl_field_is_prime(p))
			p++;
		for (uint32_t v = 1; v < n; v++)
			edges[v - 1] =
				(struct sl_edge){v, round % 3 == 0 ? v - 1 : (uint32_t)(any64(&seed) % v)};
		for (size_t more = any64(&seed) % (2 * n); more > 0; more--)
			edges[count++] = any_edge(n, &seed);
		struct sl_field field = field_of(p);
		struct sl_graph g = graph_of_edges(n, edges, count);
		expect_minimal_polynomial(&g, &field, round);
	}
}

static uint32_t degree_of(const char *text, uint32_t n, uint64_t p, uint8_t first)
{
	struct sl_graph g = graph_of(text, n);
	struct sl_field field = field_of(p);
	const uint8_t seed[SL_HASH_BYTES] = {first};
	uint64_t *r = SL_ARENA_TAKE(&arena, n, uint64_t);
	uint32_t degree;
	int err = sl_minimal_polynomial(&g, &field, seed, r, &degree, &arena);
	if (err != SL_OK)
		fail_msg("%s on %u, p = %llu: %d", text, n, (unsigned long long)p, err);
	expect_sum(&g, &field, r, degree, first);
	return degree;
}

/* The numbers of ROUND.md §8 Engines, for every p that `auto` may take and the paper's. */
TEST(known_graphs)
{
	static const uint64_t p[] = {1020431,
				     SL_P_MERSENNE31,
				     (UINT64_C(1) << 36) - 5,
				     (UINT64_C(1) << 40) - 87,
				     (UINT64_C(1) << 44) - 17,
				     (UINT64_C(1) << 61) - 1};
	for (uint8_t i = 0; i < 6; i++) {
		assert_int_equal(degree_of("complete", 100, p[i], i), 1);
		assert_int_equal(degree_of("star", 100, p[i], i), 2);
		assert_int_equal(degree_of("neighbours:40", 100, p[i], i), 3);
		assert_int_equal(degree_of("line", 100, p[i], i), 99);
		assert_int_equal(degree_of("ring", 100, p[i], i), 50);
		assert_int_equal(degree_of("regular:20", 100, p[i], i), 99);
		assert_int_equal(degree_of("complete", 2, p[i], i), 1);
	}
}

/* 1 is a double eigenvalue of W mod 7: dividing t - 1 out of W's own least polynomial would not see it. */
TEST(double_eigenvalue)
{
	const struct sl_edge edges[] = {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}};
	struct sl_field seven = field_of(7), eleven = field_of(11);
	struct sl_graph g = graph_of_edges(5, edges, 5);
	for (uint64_t seed = 0; seed < 200; seed++) {
		size_t used = sl_arena_mark(&arena);
		assert_false(expect_minimal_polynomial(&g, &seven, seed));
		assert_true(expect_minimal_polynomial(&g, &eleven, seed));
		sl_arena_reset(&arena, used);
	}
}

TEST(refusals)
{
	const uint8_t seed[SL_HASH_BYTES] = {1};
	struct sl_field field = field_of(7);
	uint64_t r[64] = {9};
	uint32_t degree = 9;
	struct sl_graph g = {.n = 0};
	assert_int_equal(sl_minimal_polynomial(&g, &field, seed, r, &degree, &arena), SL_ERR_INVALID);
	for (uint32_t n = 7; n <= 9; n++) { /* 1/7 is not in Z_7, nor is a mean over 7 */
		g = graph_of(n == 7 ? "ring" : "complete", n);
		assert_int_equal(sl_minimal_polynomial(&g, &field, seed, r, &degree, &arena), SL_ERR_INVALID);
	}
	assert_true(r[0] == 9 && degree == 9);
	g = graph_of_edges(1, NULL, 0);
	assert_int_equal(sl_minimal_polynomial(&g, &field, seed, r, &degree, &arena), SL_OK);
	assert_true(r[0] == 1 && degree == 0 && sl_minimal_polynomial_scale(&field, r, degree, 1) == 1);
	g = graph_of("ring", 50);
	field = field_of(SL_P_MERSENNE31);
	size_t used = sl_arena_mark(&arena), need = sl_minimal_polynomial_scratch(50, 50);
	struct sl_arena tiny = {.base = arena.base + used + 1, .size = need / 2};
	struct sl_arena enough = {.base = arena.base + used + 1, .size = need};
	assert_int_equal(sl_minimal_polynomial(&g, &field, seed, r, &degree, &tiny), SL_ERR_NOMEM);
	assert_int_equal(tiny.used, 0);
	assert_int_equal(sl_minimal_polynomial(&g, &field, seed, r, &degree, &enough), SL_OK);
	assert_int_equal(degree, 25);
}
