/* The sampler of discrete Gaussian noise: its tables against known probabilities, its loops against plain C,
 * and its elements against the distribution and an exact sampler. Keys are fixed, so that each run sees the
 * same elements.
 */
#include "test/lib/test.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/dp/gaussian.h"
#include "common/dp/kernels/draw.h"
#include "common/field/kernels.h"
#include "test/dp/exact.h"

#define SAMPLES 1000000u
#define MANY 10000000u
#define DEVIATIONS 4.5 /* of a statistic: one in 100,000 */

static const uint8_t key[SL_KEY_BYTES] = {1, 2, 3};
static const double sigmas[] = {0.5, 1, 4, 16, 100, 6700};
#define EACH_SIGMA(s)                                                                                        \
	size_t s = 0;                                                                                        \
	s < sizeof sigmas / sizeof *sigmas;                                                                  \
	s++

static int prepare_the_file(void **state)
{
	(void)state;
	return sodium_init() < 0;
}
TEST_SETUP(prepare_the_file, NULL)

static struct sl_gaussian plan_of(double sigma)
{
	struct sl_gaussian plan;
	assert_int_equal(sl_gaussian_plan(sigma, &plan), SL_OK);
	return plan;
}

/* --- plans --- */

TEST(range)
{
	struct sl_gaussian plan;
	const double refused[] = {0, -1, 0.4999, 0x1p22 + 1, INFINITY, -INFINITY, NAN};
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		assert_int_equal(sl_gaussian_plan(refused[i], &plan), SL_ERR_RANGE);
	for (double sigma = SL_GAUSSIAN_SIGMA_LEAST; sigma <= SL_GAUSSIAN_SIGMA_MOST; sigma *= 1.0037) {
		assert_int_equal(sl_gaussian_plan(sigma, &plan), SL_OK);
		assert_true(plan.sigma >= sigma && plan.sigma <= sigma + 0x1p-20);
		assert_true(plan.terms <= SL_GAUSSIAN_TERMS && plan.rares <= SL_GAUSSIAN_TABLE);
	}
	assert_true(plan_of(SL_GAUSSIAN_SIGMA_MOST).sigma == SL_GAUSSIAN_SIGMA_MOST);
}

/* Return the probability that |y_0| = x, times 2^123. */
static unsigned __int128 probability(const struct sl_gaussian *plan, uint32_t x)
{
	uint64_t left = (UINT64_C(1) << 63) - 1 - plan->common[plan->commons - 1];
	uint64_t whole = x < plan->commons ? plan->common[x] - (x > 0 ? plan->common[x - 1] : UINT64_MAX) : 0;
	uint64_t end = x < plan->rares ? plan->rare[x] + 1 : UINT64_C(1) << 63;
	uint64_t part = end - (x > 0 ? plan->rare[x - 1] + 1 : 0);
	return (((unsigned __int128)whole << 63) + (unsigned __int128)left * part) >> 3;
}

/* Expect P(x), one of x and -x, to begin with `digits`. */
static void expect_probability(double sigma, uint32_t x, const char *digits)
{
	struct sl_gaussian plan = plan_of(sigma);
	assert_int_equal(plan.terms, 1);
	unsigned __int128 p = probability(&plan, x) >> (x > 0), unit = (unsigned __int128)1 << 123;
	char got[64] = "0.";
	for (size_t i = 2; i < strlen(digits); i++, p %= unit) {
		p *= 10;
		got[i] = (char)('0' + (int)(p / unit));
	}
	assert_string_equal(got, digits);
}

/* By 50 digits of exp. */
TEST(probabilities)
{
	expect_probability(0.5, 0, "0.786570707041947899704590558527");
	expect_probability(0.5, 1, "0.106450769423144724235938136924");
	expect_probability(1, 0, "0.398942278266861705581680536389");
	expect_probability(1, 1, "0.241970723224460609729934000885");
	expect_probability(2, 0, "0.199471140200716338969973029967");
	expect_probability(2, 1, "0.176032663382149738887340220798");
	expect_probability(2, 5, "0.008764150246784268681079161083");
	expect_probability(4, 0, "0.099735570100358169484986514983");
	expect_probability(4, 10, "0.004382075123392134340539580541");
}

TEST(variance)
{
	struct sl_gaussian plan = plan_of(0.5);
	double variance = 0;
	for (uint32_t x = 0; x <= plan.rares; x++)
		variance += x * x * (double)probability(&plan, x) * 0x1p-123;
	assert_true(fabs(variance - 0.215012675) < 5e-10);
}

/* --- loops --- */

/* Return the element of `words`, one for each term and the shared one, `stride` words apart. */
static int64_t element_of(const struct sl_gaussian *plan, const uint64_t *words, size_t stride)
{
	int64_t y = 0;
	for (uint32_t i = 0; i < plan->terms; i++) {
		int64_t size = 0;
		uint64_t word = words[i * stride], shared = words[plan->terms * stride] >> 1;
		while (size < plan->commons && (int64_t)(word >> 1) > (int64_t)plan->common[size])
			size++;
		if (size == plan->commons)
			for (size = 0; size < plan->rares && (int64_t)shared > (int64_t)plan->rare[size];)
				size++;
		y += (int64_t)plan->coefficient[i] * (word & 1 ? -size : size);
	}
	return y;
}

/* Expect n elements to be those of the stream as gaussian.h describes it. */
static void expect_stream(const struct sl_gaussian *plan, uint64_t first, const int64_t *got, size_t n)
{
	static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES];
	uint64_t words[(SL_GAUSSIAN_TERMS + 1) * SL_GAUSSIAN_GROUP];
	size_t bytes = (plan->terms + 1) * SL_GAUSSIAN_GROUP * sizeof *words;
	for (size_t i = 0; i < n; i++) {
		uint64_t group = (first + i) / SL_GAUSSIAN_GROUP, at = (first + i) % SL_GAUSSIAN_GROUP;
		memset(words, 0, sizeof words);
		crypto_stream_chacha20_xor_ic((uint8_t *)words, (uint8_t *)words, bytes, nonce,
					      group * bytes / 64, key);
		assert_int_equal(got[i], element_of(plan, words + at, SL_GAUSSIAN_GROUP));
	}
}

/* Draws at and above each threshold, with both signs; the shared draw goes the other way. */
static void expect_thresholds(const struct sl_gaussian *plan,
			      void (*draw)(const struct sl_gaussian *, const uint64_t *, int64_t *, size_t))
{
	uint64_t words[2 * (SL_GAUSSIAN_TERMS + 1) * SL_GAUSSIAN_GROUP], die = 1;
	int64_t got[2 * SL_GAUSSIAN_GROUP];
	uint32_t n = plan->terms + 1;
	for (uint32_t turn = 0; turn < 600; turn++) {
		for (uint32_t w = 0; w < 2 * n * SL_GAUSSIAN_GROUP; w++) {
			bool shared = w / SL_GAUSSIAN_GROUP % n == plan->terms;
			die = die * UINT64_C(6364136223846793005) + 1442695040888963407;
			uint32_t of = (uint32_t)(die >> 33) % (shared ? plan->rares : plan->commons);
			uint64_t t = (shared ? plan->rare : plan->common)[of];
			words[w] = (t + (die >> 32 & 1)) << 1 | (die >> 31 & 1);
			if ((die >> 20) % 8 == 0)
				words[w] = die >> 19 & 1 ? UINT64_MAX : 0;
		}
		draw(plan, words, got, 2);
		for (uint32_t e = 0; e < 2 * SL_GAUSSIAN_GROUP; e++) {
			size_t at = e / SL_GAUSSIAN_GROUP * n * SL_GAUSSIAN_GROUP + e % SL_GAUSSIAN_GROUP;
			assert_int_equal(got[e], element_of(plan, words + at, SL_GAUSSIAN_GROUP));
		}
	}
}

static void choose_or_skip(const char *set)
{
	if (sl_kernels_choose(set) != SL_OK) {
		print_message("this machine has no %s\n", set);
		skip();
	}
}

static void expect_set(const char *set,
		       void (*draw)(const struct sl_gaussian *, const uint64_t *, int64_t *, size_t))
{
	static int64_t out[700];
	choose_or_skip(set);
	for (EACH_SIGMA(s)) {
		struct sl_gaussian plan = plan_of(sigmas[s]);
		expect_thresholds(&plan, draw);
		const uint64_t firsts[] = {0, 1, 31, 32, 1000003, UINT64_C(1) << 40};
		for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++) {
			sl_gaussian_draw(&plan, key, firsts[f], out, 700);
			expect_stream(&plan, firsts[f], out, 700);
		}
	}
	sl_kernels_choose(NULL);
}

TEST(portable)
{
	expect_set("portable", sl_kernels_portable_gaussian);
}

#ifdef __x86_64__
TEST(avx2)
{
	expect_set("avx2", sl_kernels_avx2_gaussian);
}

TEST(avx512)
{
	expect_set("avx512", sl_kernels_avx512_gaussian);
}
#endif

/* Any part of the stream is the same, and nothing is written behind it. */
TEST(parts)
{
	int64_t all[1200], part[1201];
	for (EACH_SIGMA(s)) {
		struct sl_gaussian plan = plan_of(sigmas[s]);
		sl_gaussian_draw(&plan, key, 0, all, 1200);
		for (size_t n = 0; n <= 1200; n = 2 * n + n % 3 + 1)
			for (size_t first = 0; first + n <= 1200; first += 37 + n) {
				memset(part, 0x55, sizeof part);
				sl_gaussian_draw(&plan, key, first, part, n);
				assert_memory_equal(part, all + first, n * sizeof *part);
				assert_int_equal(part[n], 0x5555555555555555);
			}
	}
}

TEST(keys)
{
	uint8_t other[SL_KEY_BYTES];
	int64_t a[256], b[256];
	struct sl_gaussian plan = plan_of(100);
	memcpy(other, key, sizeof other);
	other[SL_KEY_BYTES - 1] ^= 1;
	sl_gaussian_draw(&plan, key, 0, a, 256);
	sl_gaussian_draw(&plan, other, 0, b, 256);
	uint32_t same = 0;
	for (size_t i = 0; i < 256; i++)
		same += a[i] == b[i];
	assert_true(same < 8);
}

/* --- the distribution --- */

/* N_Z(0, sigma^2), by its cumulative probabilities from -most on. */
struct ideal {
	int64_t most;
	double *p; /* of -most .. most */
};

static struct ideal ideal_of(double sigma)
{
	struct ideal ideal = {.most = (int64_t)(12 * sigma) + 1};
	double sum = 0;
	ideal.p = calloc((size_t)(2 * ideal.most + 1), sizeof *ideal.p);
	assert_non_null(ideal.p);
	for (int64_t y = -ideal.most; y <= ideal.most; y++)
		sum += ideal.p[y + ideal.most] = exp(-(double)(y * y) / (2 * sigma * sigma));
	for (int64_t y = -ideal.most; y <= ideal.most; y++)
		ideal.p[y + ideal.most] /= sum;
	return ideal;
}

/* Return the expected value of f(y)^k. */
static double expectation(const struct ideal *ideal, double (*f)(int64_t y, double with), double with, int k)
{
	double sum = 0;
	for (int64_t y = -ideal->most; y <= ideal->most; y++)
		sum += ideal->p[y + ideal->most] * pow(f(y, with), k);
	return sum;
}

/* Expect the mean of f to be as exact as that of independent elements. */
static void expect_mean(const char *what, const struct ideal *ideal, const int64_t *y, size_t n,
			double (*f)(int64_t y, double with), double with)
{
	double sum = 0, mean = expectation(ideal, f, with, 1);
	double error = sqrt((expectation(ideal, f, with, 2) - mean * mean) / (double)n);
	for (size_t i = 0; i < n; i++)
		sum += f(y[i], with);
	double off = sum / (double)n - mean;
	if (fabs(off) >
	    DEVIATIONS * error + 1.0 / (double)n * (fabs(mean) < 1)) /* a count may be one too high */
		fail_msg("%s %g: %g instead of %g, %.1f deviations off", what, with, sum / (double)n, mean,
			 off / error);
}

static double power(int64_t y, double with)
{
	return pow((double)y, with);
}

static double beyond(int64_t y, double with)
{
	return fabs((double)y) > with;
}

static double above(int64_t y, double with)
{
	return (double)y > with;
}

/* Expect chi^2 of the counts of `cells` cells within DEVIATIONS of its own. */
static void expect_chi2(const char *what, const double *counts, const double *expected, size_t cells)
{
	double chi2 = 0, freedom = -1, counted = 0, hoped = 0;
	for (size_t i = 0; i < cells; i++) {
		counted += counts[i];
		hoped += expected[i];
		if (hoped < 20 && i + 1 < cells)
			continue; /* with the next cell */
		if (hoped > 0) {
			chi2 += (counted - hoped) * (counted - hoped) / hoped;
			freedom++;
		}
		counted = hoped = 0;
	}
	if (fabs(chi2 - freedom) > DEVIATIONS * sqrt(2 * freedom))
		fail_msg("%s: chi^2 %.1f with %g degrees of freedom", what, chi2, freedom);
}

/* Compare histograms of cells `width` wide, and of remainders by `modulus`. */
static void expect_histogram(const char *what, const struct ideal *ideal, const int64_t *y, size_t n,
			     int64_t width, int64_t modulus)
{
	size_t cells = (size_t)(modulus > 0 ? modulus : 2 * ideal->most / width + 1);
	double *counts = calloc(cells, sizeof *counts), *expected = calloc(cells, sizeof *expected);
	assert_true(counts != NULL && expected != NULL);
	for (int64_t x = -ideal->most; x <= ideal->most; x++)
		expected[modulus > 0 ? (x % modulus + modulus) % modulus : (x + ideal->most) / width] +=
			(double)n * ideal->p[x + ideal->most];
	for (size_t i = 0; i < n; i++) {
		assert_true(llabs(y[i]) <= ideal->most);
		counts[modulus > 0 ? (y[i] % modulus + modulus) % modulus : (y[i] + ideal->most) / width]++;
	}
	expect_chi2(what, counts, expected, cells);
	free(counts);
	free(expected);
}

static void expect_distribution(const char *what, double sigma, const int64_t *y, size_t n)
{
	struct ideal ideal = ideal_of(sigma);
	expect_histogram(what, &ideal, y, n, sigma < 50 ? 1 : (int64_t)(sigma / 10), 0);
	for (int64_t modulus = 2; modulus <= 97; modulus += modulus < 16 ? 1 : 27)
		expect_histogram("remainders", &ideal, y, n, 1, modulus);
	for (int k = 1; k <= 4; k++)
		expect_mean("moment", &ideal, y, n, power, k);
	for (int k = 0; k <= 5; k++) {
		expect_mean("beyond", &ideal, y, n, beyond, k * sigma);
		expect_mean("above", &ideal, y, n, above, k * sigma);
		expect_mean("above", &ideal, y, n, above, -k * sigma);
	}
	free(ideal.p);
}

/* Elements that follow each other, and the same element of neighbouring groups, are independent. */
static void expect_independent(double sigma, const int64_t *y, size_t n)
{
	for (size_t lag = 1; lag <= 2 * SL_GAUSSIAN_GROUP; lag += lag < 4 ? 1 : 4) {
		double sum = 0, squares = 0;
		for (size_t i = lag; i < n; i++) {
			double product = (double)y[i] * (double)y[i - lag] / (sigma * sigma);
			sum += product;
			squares += product * product;
		}
		if (fabs(sum) > DEVIATIONS * sqrt(squares))
			fail_msg("sigma %g, lag %zu: correlation %g", sigma, lag, sum / (double)n);
	}
}

static void expect_elements(size_t n)
{
	int64_t *y = calloc(n, sizeof *y);
	assert_non_null(y);
	for (EACH_SIGMA(s)) {
		struct sl_gaussian plan = plan_of(sigmas[s]);
		char what[64];
		snprintf(what, sizeof what, "sigma %g", sigmas[s]);
		sl_gaussian_draw(&plan, key, 0, y, n);
		expect_distribution(what, sigmas[s], y, n);
		expect_independent(sigmas[s], y, n);
	}
	free(y);
}

TEST(distribution)
{
	expect_elements(SAMPLES);
}

TEST_NIGHTLY(distribution_of_many)
{
	expect_elements(MANY);
}

/* The exact sampler has the same distribution, and the counts of both agree. */
static void expect_exact(size_t n)
{
	int64_t *exact = calloc(n, sizeof *exact), *y = calloc(n, sizeof *y);
	assert_true(exact != NULL && y != NULL);
	for (EACH_SIGMA(s)) {
		struct sl_gaussian plan = plan_of(sigmas[s]);
		struct ideal ideal = ideal_of(sigmas[s]);
		double *counts = calloc(241, sizeof *counts), *others = calloc(241, sizeof *others), chi2 = 0,
		       cells = 0;
		assert_true(counts != NULL && others != NULL);
		exact_draw(5 + s, (uint64_t)(4 * sigmas[s] * sigmas[s]), 4, exact, n);
		expect_distribution("exact", sigmas[s], exact, n);
		sl_gaussian_draw(&plan, key, 0, y, n);
		for (size_t i = 0; i < n; i++) {
			counts[120 + (int64_t)floor(10 * (double)exact[i] / sigmas[s])]++;
			others[120 + (int64_t)floor(10 * (double)y[i] / sigmas[s])]++;
		}
		for (size_t c = 0; c < 241; c++)
			if (counts[c] + others[c] > 40) {
				chi2 += (counts[c] - others[c]) * (counts[c] - others[c]) /
					(counts[c] + others[c]);
				cells++;
			}
		if (fabs(chi2 - cells) > DEVIATIONS * sqrt(2 * cells) + 1)
			fail_msg("sigma %g: chi^2 of both %.1f, %g cells", sigmas[s], chi2, cells);
		free(counts);
		free(others);
		free(ideal.p);
	}
	free(exact);
	free(y);
}

TEST(exact)
{
	expect_exact(SAMPLES / 5);
}

TEST_NIGHTLY(exact_of_many)
{
	expect_exact(SAMPLES * 2);
}
