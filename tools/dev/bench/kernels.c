/* Arithmetic alone, in CPU time of one thread: making shares, with their randomness, an iteration of mixing,
 * and noise. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/number.h"
#include "common/dp/gaussian.h"
#include "common/field/vector.h"
#include "common/field/kernels.h"
#include "common/field/metropolis.h"
#include "tools/dev/bench/bench.h"

#define BLOCK 2048u	/* coordinates at a time, as a learner makes them */
#define SHARES 2000000u /* a sample */
#define PASSES 5u
#define NOISE 200000u /* elements of a sample of noise */

/* ---- shares ---- */

struct maker {
	struct sl_sharing sharing;
	struct sl_arena arena;
	struct sl_prg *randomness;
	uint64_t *x, **rows, *scratch;
};

static int maker_take(struct maker *m, uint32_t degree)
{
	m->randomness = SL_ARENA_TAKE(&m->arena, degree, struct sl_prg);
	m->x = SL_ARENA_TAKE(&m->arena, BLOCK, uint64_t);
	m->rows = SL_ARENA_TAKE(&m->arena, degree + 1, uint64_t *);
	m->scratch = SL_ARENA_TAKE(&m->arena, sl_share_scratch(degree), uint64_t);
	if (m->randomness == NULL || m->x == NULL || m->rows == NULL || m->scratch == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t r = 0; r <= degree; r++)
		if ((m->rows[r] = SL_ARENA_TAKE(&m->arena, BLOCK, uint64_t)) == NULL)
			return SL_ERR_NOMEM;
	return SL_OK;
}

static int maker_open(struct maker *m, uint64_t p, uint32_t degree)
{
	sl_id ids[SL_LEARNERS_MAX];
	uint8_t key[SL_KEY_BYTES];
	struct sl_field field;
	size_t bytes = (degree + 4) * (BLOCK * sizeof(uint64_t) + sizeof(struct sl_prg) + 256) +
		       8 * sl_share_scratch(degree) + 65536;
	*m = (struct maker){.arena.base = NULL};
	sl_arena_init(&m->arena, malloc(bytes), bytes);
	if (m->arena.base == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t r = 0; r < degree; r++)
		ids[r] = r + 2;
	int rc = sl_field_init(&field, p);
	if (rc == SL_OK)
		rc = sl_share_init(&m->sharing, &field, 1, ids, degree, &m->arena);
	if (rc == SL_OK)
		rc = maker_take(m, degree);
	for (uint32_t r = 0; rc == SL_OK && r < degree; r++) {
		randombytes_buf(key, sizeof key);
		sl_prg_open(&m->randomness[r], key);
	}
	return rc;
}

/* Sample the ns for one share, randomness included; a coordinate has degree + 1 of them, the learner's own
 * being one. */
static int measure_shares(enum sl_sharing_kind kind, uint64_t p, uint32_t degree, uint32_t samples,
			  const char *name)
{
	struct maker m;
	size_t blocks = 1 + SHARES / ((size_t)BLOCK * (degree + 1));
	int rc = maker_open(&m, p, degree);
	for (uint32_t i = 0; rc == SL_OK && i <= samples; i++) {
		double begun = sl_bench_thread_ns();
		for (size_t b = 0; b < blocks; b++)
			sl_share(&m.sharing, kind, m.randomness, m.x, BLOCK, m.rows, m.scratch);
		double spent = sl_bench_thread_ns() - begun;
		if (i > 0) /* the first warms up */
			sl_bench_sample(spent / ((double)blocks * BLOCK * (degree + 1)), "ns a share", "%s",
					name);
	}
	free(m.arena.base);
	return rc;
}

static const struct {
	uint64_t p;
	uint32_t bits;
} primes[] = {{SL_P_MERSENNE31, 31}, {(UINT64_C(1) << 61) - 1, 61}};
static const uint32_t degrees[] = {10, 87};
#define KINDS SL_SHARING_KINDS
#define PRIMES (sizeof primes / sizeof *primes)
#define DEGREES (sizeof degrees / sizeof *degrees)

int sl_bench_kernels(const struct sl_bench *bench, struct sl_error *error)
{
	char name[64];
	int rc = SL_OK;
	(void)error;
	for (size_t k = 0; k < KINDS; k++)
		for (size_t p = 0; p < PRIMES; p++)
			for (size_t d = 0; rc == SL_OK && d < DEGREES; d++) {
				snprintf(name, sizeof name, "%s, %u bits, degree %u",
					 sl_share_kind_name((enum sl_sharing_kind)k), primes[p].bits,
					 degrees[d]);
				rc = measure_shares((enum sl_sharing_kind)k, primes[p].p, degrees[d],
						    bench->repeat, name);
			}
	return rc;
}

/* ---- one iteration of exact, of a chunk ---- */

/* Return the ns for an element of a neighbour's state, mixed in by `exact` at p = 2^31-1; negative: out of
 * memory. */
static double exact_ns(uint32_t degree)
{
	struct sl_field field;
	uint64_t *x = calloc(SL_CHUNK_ELEMENTS, sizeof *x), *sum = calloc(SL_CHUNK_ELEMENTS, sizeof *sum);
	uint64_t *weights = calloc(degree + 1, sizeof *weights);
	uint8_t *packed = calloc(SL_CHUNK_ELEMENTS, sizeof(uint32_t));
	const uint8_t **states = calloc(degree, sizeof *states);
	double least = -1;
	bool good = x != NULL && sum != NULL && weights != NULL && packed != NULL && states != NULL;
	for (uint32_t r = 0; good && r <= degree; r++) {
		weights[r] = 12345 + r;
		if (r < degree)
			states[r] = packed;
	}
	for (uint32_t i = 0; good && sl_field_init(&field, SL_P_MERSENNE31) == SL_OK && i < PASSES; i++) {
		double begun = sl_bench_thread_ns();
		sl_vector_update(&field, x, sum, 7, SL_CHUNK_ELEMENTS, states, weights, degree);
		double spent = (sl_bench_thread_ns() - begun) / ((double)SL_CHUNK_ELEMENTS * degree);
		least = least < 0 || spent < least ? spent : least;
	}
	free(x);
	free(sum);
	free(weights);
	free(packed);
	free(states);
	return least;
}

/* ---- one iteration of metropolis ---- */

/* Sample the microseconds for one learner's iteration of metropolis. */
static int measure_metropolis(uint32_t degree, size_t elements, uint32_t samples, const char *name)
{
	size_t row = elements * sizeof(int64_t);
	uint8_t *rows =
		malloc((degree + 1) * row); /* the neighbours' as they are on the wire, then the own */
	struct sl_divisor *divisors = calloc(degree, sizeof *divisors);
	const uint8_t **states = calloc(degree, sizeof *states);
	bool good = rows != NULL && divisors != NULL && states != NULL;
	if (good)
		randombytes_buf(rows, (degree + 1) * row);
	for (size_t at = 7; good && at < (degree + 1) * row; at += 8)
		rows[at] &= 0x3f; /* below 2^62 */
	for (uint32_t r = 0; good && r < degree; r++) {
		states[r] = rows + r * row;
		sl_metropolis_divisor_init(&divisors[r], degree + 1);
	}
	for (uint32_t i = 0; good && i <= samples; i++) {
		double begun = sl_bench_thread_ns();
		sl_metropolis_step((int64_t *)(rows + degree * row), elements, states, divisors, degree);
		if (i > 0) /* the first warms up */
			sl_bench_sample((sl_bench_thread_ns() - begun) / 1e3, "us", "%s", name);
	}
	free(rows);
	free(divisors);
	free(states);
	return good ? SL_OK : SL_ERR_NOMEM;
}

/* ---- instruction sets ---- */

static const char *const sets[] = {"portable", "avx2", "avx512"};

static int measure_set(const struct sl_bench *bench, const char *set)
{
	char name[64];
	snprintf(name, sizeof name, "shamir, 31 bits, degree 87, %s", set);
	int rc = measure_shares(SL_SHARING_SHAMIR, SL_P_MERSENNE31, 87, bench->repeat, name);
	snprintf(name, sizeof name, "metropolis, n 32,768, degree 20, %s", set);
	if (rc == SL_OK)
		rc = measure_metropolis(20, 32768, bench->repeat, name);
	for (uint32_t i = 0; rc == SL_OK && i < bench->repeat; i++)
		sl_bench_sample(exact_ns(20), "ns", "exact, for each element and neighbour, %s", set);
	return rc;
}

int sl_bench_instructions(const struct sl_bench *bench, struct sl_error *error)
{
	int rc = SL_OK;
	(void)error;
	for (size_t i = 0; rc == SL_OK && i < sizeof sets / sizeof *sets; i++)
		if (sl_kernels_choose(sets[i]) == SL_OK) /* this machine has it */
			rc = measure_set(bench, sets[i]);
	return rc;
}

/* ---- noise ---- */

/* Sample the ns for an element of discrete Gaussian noise with standard deviation `sigma`. */
static void measure_noise(const struct sl_bench *bench, double sigma, const char *set)
{
	static int64_t noise[NOISE];
	uint8_t key[SL_KEY_BYTES];
	struct sl_gaussian plan;
	randombytes_buf(key, sizeof key);
	sl_gaussian_plan(sigma, &plan);
	for (uint32_t i = 0; i <= bench->repeat; i++) {
		double begun = sl_bench_thread_ns();
		sl_gaussian_draw(&plan, key, 0, noise, NOISE);
		if (i > 0) /* the first warms up */
			sl_bench_sample((sl_bench_thread_ns() - begun) / NOISE, "ns an element",
					"sigma %g, %s", sigma, set);
	}
}

int sl_bench_noise(const struct sl_bench *bench, struct sl_error *error)
{
	static const double sigmas[] = {4, 16, 100, 6700};
	(void)error;
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		for (size_t s = 0; sl_kernels_choose(sets[i]) == SL_OK && s < sizeof sigmas / sizeof *sigmas;
		     s++)
			measure_noise(bench, sigmas[s], sets[i]);
	return SL_OK;
}

/* ---- the least that a round takes ---- */

/* Sample what a round of `additive` and `exact` with so many neighbours consists of, at the least: bytes
 * through TLS and arithmetic. */
int sl_bench_floor(const struct sl_bench *bench, struct sl_error *error)
{
	uint64_t degree;
	if (!sl_number_parse(bench->arguments[0], 1, SL_LEARNERS_MAX - 1, &degree))
		return sl_err_set(error, SL_ERR_FORMAT, "'%s' is no number of neighbours",
				  bench->arguments[0]);
	int rc = sl_bench_tls(bench, error);
	if (rc == SL_OK)
		rc = measure_shares(SL_SHARING_OS, SL_P_MERSENNE31, (uint32_t)degree, bench->repeat,
				    "additive");
	if (rc == SL_OK)
		sl_bench_sample(exact_ns((uint32_t)degree), "ns", "exact");
	return rc;
}
