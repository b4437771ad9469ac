/* Checksums: weighted sums, computed part by part (ROUND.md §8.7 Checking what was passed on). */
#include "test/field/elements.h"
#include "test/lib/test.h"

#include <math.h>

#include "common/base/bytes.h"
#include "common/field/checksum.h"

#define MOST 3000u

struct sums {
	struct sl_field field;
	struct sl_checksum checksum;
	uint8_t memory[SL_CHECKSUM_POINTS_MAX * (512 + MOST / 512 + 1) * 8 + 64];
};

static void open_sums(struct sums *s, uint64_t p, uint32_t points, uint8_t seed)
{
	struct sl_arena arena;
	uint8_t key[SL_KEY_BYTES];
	memset(key, seed, sizeof key);
	s->field = field_of(p);
	sl_arena_init(&arena, s->memory, sl_checksum_bytes(points, MOST));
	assert_int_equal(sl_checksum_init(&s->checksum, &s->field, points, MOST, key, &arena), SL_OK);
}

/* phi at the three points by its definition. */
static void sum_of(const struct sums *s, uint8_t seed, const uint64_t *v, size_t count, uint64_t phi[3])
{
	uint64_t c[3][512], a[3];
	uint8_t key[SL_KEY_BYTES];
	struct sl_prg stream;
	memset(key, seed, sizeof key);
	sl_prg_open(&stream, key);
	sl_prg_fill(&stream, &s->field, c[0], 3 * 512);
	memset(phi, 0, 3 * sizeof *phi);
	for (size_t l = 0; l < count; l++) {
		if (l % 512 == 0)
			sl_prg_fill(&stream, &s->field, a, 3);
		for (uint32_t k = 0; k < 3; k++) {
			uint64_t weight = sl_field_mul(&s->field, a[k], c[k][l % 512]);
			phi[k] = sl_field_add(&s->field, phi[k], sl_field_mul(&s->field, weight, v[l]));
		}
	}
}

TEST(of_parts)
{
	static struct sums s;
	static uint64_t v[MOST];
	uint64_t seed = 1;
	for (size_t i = 0; i < PRIMES; i++)
		for (size_t count = 1; count <= MOST; count = 2 * count + any64(&seed) % 3) {
			uint64_t phi[3] = {0}, want[3];
			open_sums(&s, primes[i], 3, (uint8_t)count);
			any_elements(v, count, primes[i], &seed);
			for (size_t at = 0, n; at < count; at += n) {
				n = 1 + any64(&seed) % (count - at);
				sl_checksum_add(&s.checksum, v + at, at, n, phi);
			}
			sum_of(&s, (uint8_t)count, v, count, want);
			assert_memory_equal(phi, want, sizeof phi);
		}
}

/* x^p - x is 0 at every x. A checksum that is a polynomial in one drawn number would not see it. */
TEST(elements_1_and_p)
{
	static struct sums s;
	static uint64_t v[1022];
	static const uint64_t few[] = {7, 251, 1021};
	for (size_t i = 0; i < 3; i++)
		for (uint32_t seed = 0; seed < 64; seed++) {
			uint64_t p = few[i], phi[SL_CHECKSUM_POINTS_MAX] = {0},
				 zero[SL_CHECKSUM_POINTS_MAX] = {0};
			struct sl_field field = field_of(p);
			memset(v, 0, sizeof v);
			v[1] = p - 1;
			v[p] = 1;
			open_sums(&s, p, sl_checksum_points(&field), (uint8_t)seed);
			sl_checksum_add(&s.checksum, v, 0, p + 1, phi);
			assert_memory_not_equal(phi, zero, sizeof phi);
		}
}

/* The least number of points with (p/2)^points >= 2^60. */
TEST(enough_points)
{
	for (size_t i = 0; i < PRIMES; i++) {
		struct sl_field field = field_of(primes[i]);
		uint32_t points = sl_checksum_points(&field);
		long double bits = log2l((long double)primes[i]) - 1;
		assert_true(points <= SL_CHECKSUM_POINTS_MAX);
		assert_true(points * bits >= 60 && (points - 1) * bits <= 60);
	}
}

/* Of each learner, of all that it keeps: p is larger than the number of learners (ROUND.md §4.5 Bounds on
 * the modulus). */
TEST(fit_a_message)
{
	for (uint32_t bits = 2; bits <= SL_P_BITS_MAX; bits++) {
		uint64_t p = (UINT64_C(1) << (bits - 1)) + 1; /* the least of so many bits has most points */
		struct sl_field field = {.p = p, .bits = bits};
		size_t kept = p <= SL_LEARNERS_MAX ? (size_t)p : SL_LEARNERS_MAX;
		size_t bytes = sl_packed_bytes(sl_checksum_points(&field), bits);
		assert_true(kept * bytes <= SL_CHECKSUM_BYTES_MAX);
	}
}

TEST(no_room)
{
	struct sl_checksum checksum;
	struct sl_field field = field_of(7);
	struct sl_arena arena;
	uint8_t key[SL_KEY_BYTES] = {0}, memory[64];
	sl_arena_init(&arena, memory, sizeof memory);
	assert_int_equal(sl_checksum_init(&checksum, &field, 2, 512, key, &arena), SL_ERR_NOMEM);
}
