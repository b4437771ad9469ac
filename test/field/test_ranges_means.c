/* Decoding by ranges (ROUND.md §4.3 Limbs and ranges): means, what no learner changed, and rests. */
#include "test/field/ranged_model.h"
#include "test/lib/test.h"

#include <math.h>
#include <string.h>

/* Return the integer nearest to sum / weight, halves to even. */
static wide nearest(wide sum, wide weight)
{
	wide twice = 2 * sum + weight, mean = twice / (2 * weight);
	mean -= mean * 2 * weight > twice;
	return mean - (mean * 2 * weight == twice && mean % 2 != 0);
}

/* Check element `l` of a mean of updates: `sum` steps, and the exact sum of the values times the weights. */
static void check_update(const struct model *mean, size_t l, wide sum, long double exact, uint64_t weight)
{
	uint32_t k = tensor_of(l);
	double step = ldexp(1, step_of(k));
	volatile double quotient = (double)sum / (double)weight, u = quotient * step;
	volatile double double_sum = (double)value_of(&base, l) + u;
	volatile float float_sum = (float)double_sum;
	if (k == D)
		assert_true(mean->d[l] == double_sum);
	else
		assert_true(mean->f[l - F] == (k < MOMENTS_ONE || float_sum > 0 ? float_sum : 0));
	if (k < MOMENTS_ONE)
		assert_true(fabsl(update_of(mean, l) - exact / (long double)weight) <=
			    step / 2 + ldexp(1, exponents[k] - 23));
}

/* The mean of five learners: that of their steps in one order of operations, and within half a step of the
 * exact mean; of exact tensors, the mean itself. */
TEST(means)
{
	uint64_t seed = 26;
	static uint64_t z[ALL];
	static wide sums[N];
	static long double exact[N];
	static struct model mean;
	for (int turn = 0; turn < 20; turn++) {
		uint64_t weight = 0;
		struct sl_encoding e = ranged(1);
		struct sl_encode_note note;
		memset(z, 0, sizeof z);
		memset(sums, 0, sizeof sums);
		memset(exact, 0, sizeof exact);
		draw_base(&seed);
		long double metric = 0, most = 0;
		for (int learner = 0; learner < 5; learner++) {
			draw(&seed);
			e.weight = 1 + any64(&seed) % 100;
			weight += e.weight;
			encode(&e, &note);
			for (size_t l = 0; l < ALL; l++)
				z[l] = sl_field_add(&field, z[l], x[l]);
			for (size_t l = 0; l < N; l++) {
				uint32_t k = tensor_of(l);
				if (k == I)
					sums[l] += (wide)e.weight * theta.i[l - 7];
				else if (k != METRIC)
					sums[l] += (wide)e.weight * steps_of(update_of(&theta, l), k);
				exact[l] += (long double)e.weight * update_of(&theta, l);
			}
			metric += (long double)e.weight * (long double)theta.m;
			most = fmaxl(most, fabsl((long double)theta.m));
		}
		decode(&e, z, &mean);
		for (size_t l = 0; l < N; l++)
			if (!is_exact(tensor_of(l)))
				check_update(&mean, l, sums[l], exact[l], weight);
		for (size_t l = 7; l < 12; l++)
			assert_int_equal(mean.i[l - 7], (int64_t)nearest(sums[l], weight));
		assert_true(fabsl((long double)mean.m - metric / (long double)weight) <= most * 0x1p-52L);
	}
}

/* What no learner changes stays bit by bit, -0.0 too, unless it is declared non-negative. */
TEST(unchanged)
{
	uint64_t seed = 30;
	static struct model mean;
	struct sl_encoding e = ranged(3);
	struct sl_encode_note note;
	draw_base(&seed);
	base.d[3] = -0.0;
	base.f[0] = base.f[LARGE + 600] = -0.0f;
	base.f[V] = -0.0f;
	theta = base;
	encode(&e, &note);
	decode(&e, x, &mean);
	base.f[V] = 0;
	assert_memory_equal(&mean, &base, sizeof base);
}

/* What rounding takes from an update, to be added to the next one; of a value that is cut, nothing. */
TEST(rests)
{
	uint64_t seed = 29;
	static struct model rest, again;
	struct sl_encoding e = ranged(1);
	for (int turn = 0; turn < 20; turn++) {
		draw_base(&seed);
		draw(&seed);
		theta.f[turn] = (float)turn * 1e20f; /* beyond the range */
		theta.d[turn % 7] = base.d[turn % 7] - 1e-3;
		memset(&rest, 0xff, sizeof rest);
		sl_encoding_rest_part(&e, &mixed, &theta, &base, N, 0, N, &rest);
		mixed.begins = begins;
		for (size_t at = 0; at < N; at += 7)
			sl_encoding_rest_part(&e, &mixed, &theta, &base, N, at, 7, &again);
		assert_memory_equal(&again, &rest, sizeof rest);
		for (size_t l = 0; l < N; l++) {
			uint32_t k = tensor_of(l);
			if (is_exact(k)) {
				assert_true(l == 12 ? rest.m == 0 : rest.i[l - 7] == 0);
				continue;
			}
			long double u = update_of(&theta, l);
			long double steps = (long double)steps_of(u, k), step = ldexpl(1, step_of(k));
			bool cut = rintl(u / step) != steps;
			long double left = cut ? 0 : u - steps * step;
			if (k == D)
				assert_true(fabsl(rest.d[l] - left) <= fabsl(u) * 0x1p-53L);
			else
				assert_true(rest.f[l - F] == (float)left);
		}
		again = theta;
		sl_encoding_rest_add(&mixed, &again, &rest, N);
		for (size_t l = 0; l < N; l++)
			if (l < 7)
				assert_true(again.d[l] == theta.d[l] + rest.d[l]);
			else if (l < 12)
				assert_int_equal(again.i[l - 7], theta.i[l - 7]);
			else if (l == 12)
				assert_true(again.m == theta.m);
			else
				assert_true(again.f[l - F] == theta.f[l - F] + rest.f[l - F]);
	}
	theta.f[0] = rest.f[0] = 3e38f; /* their sums are no numbers */
	theta.d[0] = rest.d[0] = -1e308;
	theta.i[0] = rest.i[0] = 5; /* no rest of an exact tensor */
	sl_encoding_rest_add(&mixed, &theta, &rest, N);
	assert_true(theta.f[0] == 3e38f && theta.d[0] == -1e308 && theta.i[0] == 5);
}
