#include "common/dp/gaussian.h"

#include <assert.h>
#include <endian.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "common/dp/kernels/draw.h"
#include "common/dp/wide.h"
#include "common/field/kernels/table.h"

#define STEPS 0x1p20  /* sigma is a multiple of 1 / STEPS */
#define HALVINGS 40u  /* of the search for the coefficients */
#define S_MOST 9.4    /* its tables have SL_GAUSSIAN_TABLE thresholds at most */
#define WIDTH 9.2     /* thresholds of the first table, for s = 1: probabilities of 2^-63 or more */
#define WIDTH_RARE 13 /* of the second: 2^-127 or more */
#define WORD_PRICE 64 /* a word of the key stream costs as much time as scanning so many thresholds */
#define SERIES 64u    /* terms of exp(-x), x <= 1/2: the next one is below 2^-256 */
#define SUM_BITS 6u   /* sum over y of exp(-y^2 / (2 s^2)) < 2^5: over 2^6, it is below 1/2 */
#define BATCH 8u      /* groups */

/* --- coefficients --- */

/* Set c_1 .. c_{terms-1} to the largest that s = SMOOTHING rho allows: v^2 = r^2 s^2 / (r^2 + c^2 s^2) >=
 * SMOOTHING^2, where r^2 = s^2 (c_0^2 + .. ). Return the sum of squares. */
static double coefficients(double rho, uint32_t terms, uint64_t *c)
{
	double squares = 1;
	c[0] = 1;
	for (uint32_t i = 1; i < terms; i++) {
		c[i] = (uint64_t)sqrt(squares * (rho * rho - 1));
		squares += (double)(c[i] * c[i]);
	}
	return squares;
}

/* Find the least s, and with it the smallest tables, from which so many terms lead to `sigma`. Return the
 * price of an element. */
static double cheapest(double sigma, uint32_t terms, uint64_t *c)
{
	double low = 1, high = S_MOST / SL_GAUSSIAN_SMOOTHING; /* at 1 all c_i but c_0 are 0 */
	for (uint32_t i = 0; i < HALVINGS; i++) {
		double rho = (low + high) / 2;
		if (SL_GAUSSIAN_SMOOTHING * rho * sqrt(coefficients(rho, terms, c)) <= sigma)
			low = rho;
		else
			high = rho;
	}
	double s = sigma / sqrt(coefficients(low, terms, c));
	return s <= S_MOST ? (WIDTH * terms + WIDTH_RARE) * s + WORD_PRICE * (terms + 1) : INFINITY;
}

/* Choose the number of terms and their coefficients. Return the sum of squares. */
static uint64_t choose(struct sl_gaussian *plan)
{
	uint64_t c[SL_GAUSSIAN_TERMS], squares = 0;
	double least = INFINITY;
	for (uint32_t terms = 1; terms <= SL_GAUSSIAN_TERMS; terms++) {
		double price = cheapest(plan->sigma, terms, c);
		if (price >= least)
			continue;
		least = price;
		plan->terms = terms;
		memcpy(plan->coefficient, c, terms * sizeof *c);
	}
	for (uint32_t i = 0; i < plan->terms; i++)
		squares += plan->coefficient[i] * plan->coefficient[i];
	return squares;
}

/* --- tables --- */

/* Return exp(-4 x), x <= 1/2, by 1 - x (1 - x/2 (1 - x/3 (..))) and two squarings. */
static struct sl_wide exponential(struct sl_wide x)
{
	struct sl_wide e = sl_wide_one;
	for (uint32_t i = SERIES; i > 0; i--) {
		struct sl_wide rest = sl_wide_one;
		sl_wide_subtract(&rest, sl_wide_over(sl_wide_multiply(x, e), i));
		e = rest;
	}
	e = sl_wide_multiply(e, e);
	return sl_wide_multiply(e, e);
}

/* Return 1 / (8 s^2) = 2^40 squares / (8 steps^2), of s^2 = (steps / 2^20)^2 / squares. */
static struct sl_wide exponent(uint64_t steps, uint64_t squares)
{
	unsigned __int128 above = (unsigned __int128)squares << 37, below = (unsigned __int128)steps * steps;
	struct sl_wide a = {{(uint64_t)above, (uint64_t)(above >> 64)}};
	struct sl_wide b = {{(uint64_t)below, (uint64_t)(below >> 64)}};
	return sl_wide_divide(a, b);
}

/* Set weight[y] = exp(-y^2 / (2 s^2)) / 2^SUM_BITS, twice that for y > 0. Return their sum. */
static struct sl_wide weigh(struct sl_wide q, struct sl_wide *weight, uint32_t n)
{
	struct sl_wide w = sl_wide_one, step = q, twice = sl_wide_multiply(q, q), sum = {{0}};
	for (uint32_t y = 0; y < n; y++) { /* q^(y^2), q^(2 y + 1) */
		weight[y] = sl_wide_shift(w, y > 0 ? SUM_BITS - 1 : SUM_BITS);
		sum = sl_wide_add(sum, weight[y]);
		w = sl_wide_multiply(w, step);
		step = sl_wide_multiply(step, twice);
	}
	return sum;
}

/* Split each probability into whole and fraction of 2^-63. The whole parts make the first table; the
 * fractions, of which there are `left` in all, make the second. A threshold is the largest draw below. */
static void tabulate(struct sl_gaussian *plan, const struct sl_wide *weight, struct sl_wide sum)
{
	unsigned __int128 fractions[SL_GAUSSIAN_TABLE], fraction = 0;
	uint64_t whole = 0;
	uint32_t n = 0;
	plan->commons = 0;
	for (; n < SL_GAUSSIAN_TABLE; n++) {
		struct sl_wide p = sl_wide_shift(sl_wide_divide(weight[n], sum), 1);
		if (p.limb[3] == 0 && p.limb[2] == 0)
			break;
		fractions[n] = fraction += p.limb[2];
		whole += p.limb[3];
		if (p.limb[3] != 0)
			plan->common[plan->commons++] = whole - 1;
	}
	assert(n > 1 && n < SL_GAUSSIAN_TABLE);
	uint64_t left = (UINT64_C(1) << 63) - whole;
	plan->rares = n - 1; /* the last value is that beyond all thresholds */
	for (uint32_t y = 0; y < plan->rares; y++)
		plan->rare[y] = (uint64_t)(fractions[y] / left >> 1) - 1;
}

int sl_gaussian_plan(double sigma, struct sl_gaussian *plan)
{
	struct sl_wide weight[SL_GAUSSIAN_TABLE];
	if (!(sigma >= SL_GAUSSIAN_SIGMA_LEAST && sigma <= SL_GAUSSIAN_SIGMA_MOST))
		return SL_ERR_RANGE;
	*plan = (struct sl_gaussian){.sigma = ceil(sigma * STEPS) / STEPS};
	uint64_t squares = choose(plan);
	struct sl_wide q = exponential(exponent((uint64_t)(plan->sigma * STEPS), squares));
	tabulate(plan, weight, weigh(q, weight, SL_GAUSSIAN_TABLE));
	return SL_OK;
}

/* --- drawing --- */

typedef void (*draw_function)(const struct sl_gaussian *plan, const uint64_t *words, int64_t *out,
			      size_t groups);

/* Return the loop of the instruction set in use. */
static draw_function loop(void)
{
#ifdef __x86_64__
	if (sl_kernels() == &sl_kernels_avx512)
		return sl_kernels_avx512_gaussian;
	if (sl_kernels() == &sl_kernels_avx2)
		return sl_kernels_avx2_gaussian;
#endif
	return sl_kernels_portable_gaussian;
}

void sl_gaussian_draw(const struct sl_gaussian *plan, const uint8_t key[static SL_KEY_BYTES], uint64_t first,
		      int64_t *out, size_t n)
{
	uint64_t words[BATCH * (SL_GAUSSIAN_TERMS + 1) * SL_GAUSSIAN_GROUP];
	int64_t drawn[BATCH * SL_GAUSSIAN_GROUP];
	size_t blocks = (plan->terms + 1) * SL_GAUSSIAN_GROUP * sizeof *words / 64; /* of a group */
	draw_function draw = loop();
	while (n > 0) {
		size_t skip = first % SL_GAUSSIAN_GROUP;
		size_t groups = (skip + n + SL_GAUSSIAN_GROUP - 1) / SL_GAUSSIAN_GROUP;
		groups = groups < BATCH ? groups : BATCH;
		size_t some = groups * SL_GAUSSIAN_GROUP - skip;
		some = some < n ? some : n;
		sl_kernels()->stream(key, 0, first / SL_GAUSSIAN_GROUP * blocks, (uint8_t *)words,
				     groups * blocks);
		for (size_t w = 0; w < groups * blocks * 8; w++)
			words[w] = le64toh(words[w]);
		draw(plan, words, drawn, groups);
		memcpy(out, drawn + skip, some * sizeof *out);
		first += some;
		out += some;
		n -= some;
	}
	sodium_memzero(words, sizeof words);
	sodium_memzero(drawn, sizeof drawn);
}
