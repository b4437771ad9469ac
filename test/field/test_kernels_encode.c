/* The kernels that encode models and updates, against plain C: the same elements and the same notes. */
#include <math.h>

#include "test/field/kernel_sets.h"

#define BITS                                                                                                 \
	8 /* of a value within the range; chance makes halves, zeros of both signs and the range itself */

static float any_value(uint64_t *seed)
{
	float v = (float)(any64(seed) % (4u << BITS)) / (4u << BITS);
	switch (any64(seed) % 8) {
	case 0:
		v = 0;
		break;
	case 1:
		v = 0.5f / (1u << BITS);
		break;
	case 2:
		v = 1;
		break;
	}
	return any64(seed) % 2 ? -v : v;
}

static uint64_t encoded_at(const struct sl_floats *floats, size_t l, struct sl_encoded *encoded)
{
	double u = (double)floats->theta[l] - (floats->base == NULL ? 0 : (double)floats->base[l]);
	double exact = fabs(u) * floats->scale;
	uint64_t whole = (uint64_t)rint(exact), magnitude = whole * floats->weight;
	encoded->loss = fmax(encoded->loss, fabs(exact - rint(exact)));
	encoded->vanished += whole == 0 && u != 0;
	return u < 0 && magnitude != 0 ? floats->field->p - magnitude : magnitude;
}

/* Encode the floats, and three times with one value out of the range. */
static void compare_encoded(const struct sl_floats *floats, float *theta, uint64_t *seed)
{
	static const float out[] = {1.25f, -1.25f, NAN};
	uint64_t x[SL_KERNEL_BLOCK + GUARD];
	struct sl_encoded want = {0}, got = {0};
	memset(x, 0x33, sizeof x);
	assert_true(tried->encode(floats, x, &got));
	for (size_t l = 0; l < floats->count; l++)
		if (x[l] != encoded_at(floats, l, &want))
			fail_at("encode", floats->field->p, l);
	for (size_t l = floats->count; l < SL_KERNEL_BLOCK + GUARD; l++)
		assert_true(x[l] == UINT64_C(0x3333333333333333));
	assert_true(got.loss == want.loss && got.vanished == want.vanished);
	for (size_t i = 0; i < 3; i++) {
		size_t l = any64(seed) % floats->count;
		float before = theta[l];
		theta[l] = out[i] + (floats->base == NULL ? 0 : floats->base[l]);
		assert_false(tried->encode(floats, x, &got));
		assert_true(got.loss == want.loss && got.vanished == want.vanished);
		theta[l] = before;
	}
}

TEST_EACH_SET_AND_PLAIN(encode)
{
	float theta[SL_KERNEL_BLOCK + 1], base[SL_KERNEL_BLOCK + 1];
	uint64_t seed = 15;
	for (size_t i = 0; i < PRIMES; i++) {
		struct sl_field field = field_of(primes[i]);
		uint64_t most = (primes[i] - 1) / 2 >> BITS;
		uint64_t weights[] = {0, 1, most, most == 0 ? 0 : any64(&seed) % most};
		for (size_t k = 0; k < 16; k++) {
			size_t count = k < 8 ? SL_KERNEL_BLOCK
					     : (1 + any64(&seed) % (SL_KERNEL_BLOCK / SL_ENCODE_LANES)) *
						       SL_ENCODE_LANES;
			struct sl_floats floats = {.field = &field,
						   .theta = theta + 1,
						   .base = k % 8 < 4 ? NULL : base + 1,
						   .count = count,
						   .scale = 1u << BITS,
						   .range = 1,
						   .weight = weights[k % 4]};
			for (size_t l = 1; l <= SL_KERNEL_BLOCK; l++) {
				base[l] = k % 8 < 4 ? 0 : any_value(&seed);
				theta[l] = base[l] + any_value(&seed);
			}
			if (floats.weight <= most)
				compare_encoded(&floats, theta + 1, &seed);
		}
	}
}

/* The mean of updates, and what rounding leaves out of them; values beyond the range, infinite sums and -0.
 */
TEST_EACH_SET_AND_PLAIN(updates)
{
	float base[MOST], theta[MOST + GUARD], rest[MOST + GUARD];
	uint64_t z[MOST], seed = 16;
	for (EACH_LENGTH(n)) {
		struct sl_field field = field_of(primes[any64(&seed) % PRIMES]);
		int step = (int)(any64(&seed) % 2 == 0 ? any64(&seed) % 60 : any64(&seed) % 1900) - 1000;
		struct sl_updates updates = {
			.base = base, .count = n, .step = ldexp(1, step), .edge = 0x1p12};
		double weight = (double)(1 + any64(&seed) % 1000);
		for (size_t l = 0; l < n; l++) {
			base[l] = l % 7 == 0 ? -0.0f : any_value(&seed);
			z[l] = l % 5 == 0 ? 0 : any64(&seed) % field.p;
		}
		memset(theta, 0x33, sizeof theta);
		memset(rest, 0x33, sizeof rest);
		if (field.bits <= 52)
			tried->decode(&field, &updates, z, weight, theta);
		for (size_t l = 0; field.bits <= 52 && l < n; l++) {
			double mean = (double)sl_field_centred(&field, z[l]) / weight * updates.step;
			float want = z[l] == 0 ? base[l] : (float)((double)base[l] + mean);
			assert_memory_equal(&theta[l], &want, sizeof want);
		}
		for (size_t l = n; l < MOST + GUARD; l++)
			assert_memory_equal(&theta[l], "3333", 4);
		for (size_t l = 0; l < n; l++)
			theta[l] = base[l] +
				   (l % 3 == 0 ? any_value(&seed) : (float)ldexp(1, step)) * any_value(&seed);
		tried->rest(&updates, theta, rest);
		for (size_t l = 0; l < n; l++) {
			double u = (double)theta[l] - (double)base[l], steps = rint(u / updates.step);
			float want = fabs(steps) <= 4096 ? (float)(u - steps * updates.step) : 0;
			assert_memory_equal(&rest[l], &want, sizeof want);
		}
		for (size_t l = n; l < MOST + GUARD; l++)
			assert_memory_equal(&rest[l], "3333", 4);
	}
}

/* Of every length, the largest in each place. */
TEST_EACH_SET_AND_PLAIN(magnitude)
{
	uint64_t z[MOST] = {0}, seed = 18;
	for (EACH_LENGTH(n)) {
		struct sl_field field = field_of(primes[any64(&seed) % PRIMES]);
		uint64_t want = 0;
		for (size_t l = 0; l < n; l++) {
			z[l] = any64(&seed) % field.p;
			int64_t centred = sl_field_centred(&field, z[l]);
			uint64_t size = (uint64_t)(centred < 0 ? -centred : centred);
			want = size > want ? size : want;
		}
		assert_true(tried->magnitude(&field, z, n) == want);
		if (n > 0) {
			z[any64(&seed) % n] =
				field.p / 2 + any64(&seed) % 2; /* both are the farthest from 0 */
			assert_true(tried->magnitude(&field, z, n) == field.p / 2);
		}
	}
}

/* The largest change, wherever it is; NaN is none. */
TEST_EACH_SET_AND_PLAIN(change)
{
	float a[MOST] = {0}, b[MOST] = {0};
	uint64_t seed = 17;
	for (EACH_LENGTH(n)) {
		double want = 0, size = 0;
		for (size_t l = 0; l < n; l++) {
			a[l] = any64(&seed) % 7 == 0 ? NAN : any_value(&seed);
			b[l] = any_value(&seed);
		}
		if (n > 0)
			a[any64(&seed) % n] = -1e30f; /* no other is as large */
		for (size_t l = 0; l < n; l++) {
			want = fmax(want, fabs((double)a[l] - (double)b[l]));
			size = fmax(size, fabs((double)a[l]));
		}
		assert_true(tried->change(a, b, n) == want);
		assert_true(tried->change(a, NULL, n) == size);
	}
}
