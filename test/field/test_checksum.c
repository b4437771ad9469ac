/* Checksums: a polynomial in rho, computed part by part (PROTOCOL.md §8.7 Checking what was passed on). */
#include "test/field/elements.h"
#include "test/lib/test.h"

#include <math.h>

#include "common/field/checksum.h"

#define MOST 3000u

struct sums {
	struct sl_field field;
	struct sl_checksum checksum;
	uint8_t memory[SL_CHECKSUM_POINTS_MAX * 4096 + 64];
};

static void open_sums(struct sums *s, uint64_t p, uint32_t points, uint8_t seed)
{
	struct sl_arena arena;
	uint8_t key[SL_KEY_BYTES];
	memset(key, seed, sizeof key);
	s->field = field_of(p);
	sl_arena_init(&arena, s->memory, sl_checksum_bytes(points));
	assert_int_equal(sl_checksum_init(&s->checksum, &s->field, points, key, &arena), SL_OK);
}

static uint64_t horner(const struct sums *s, uint32_t point, const uint64_t *v, size_t count)
{
	uint64_t sum = 0;
	while (count-- > 0)
		sum = sl_field_add(&s->field, sl_field_mul(&s->field, sum, s->checksum.rho[point]), v[count]);
	return sum;
}

TEST(of_parts)
{
	static struct sums s;
	static uint64_t v[MOST];
	uint64_t seed = 1;
	for (size_t i = 0; i < PRIMES; i++)
		for (size_t count = 1; count <= MOST; count = 2 * count + any64(&seed) % 3) {
			uint64_t phi[3] = {0};
			open_sums(&s, primes[i], 3, (uint8_t)count);
			any_elements(v, count, primes[i], &seed);
			for (size_t at = 0, n; at < count; at += n) {
				n = 1 + any64(&seed) % (count - at);
				sl_checksum_add(&s.checksum, v + at, at, n, phi);
			}
			for (uint32_t k = 0; k < 3; k++)
				assert_int_equal(phi[k], horner(&s, k, v, count));
		}
}

/* The points are the stream of the seed, which all learners know. */
TEST(points_of_the_seed)
{
	static struct sums s;
	for (size_t i = 0; i < PRIMES; i++) {
		uint64_t want[SL_CHECKSUM_POINTS_MAX];
		uint8_t key[SL_KEY_BYTES];
		struct sl_prg stream;
		memset(key, 5, sizeof key);
		open_sums(&s, primes[i], SL_CHECKSUM_POINTS_MAX, 5);
		sl_prg_open(&stream, key);
		sl_prg_fill(&stream, &s.field, want, SL_CHECKSUM_POINTS_MAX);
		assert_memory_equal(s.checksum.rho, want, sizeof want);
	}
}

/* The least number of points with elements p^-points < 2^-60. */
TEST(enough_points)
{
	static const uint64_t elements[] = {2, 3, 1u << 16, 1000001, SL_ELEMENTS_MAX};
	for (size_t i = 0; i < PRIMES; i++)
		for (size_t e = 0; e < sizeof elements / sizeof *elements; e++) {
			struct sl_field field = field_of(primes[i]);
			uint32_t points = sl_checksum_points(&field, elements[e]);
			long double bits = log2l((long double)primes[i]),
				    need = 60 + log2l((long double)elements[e]);
			assert_true(points <= SL_CHECKSUM_POINTS_MAX);
			assert_true(points * bits > need - 1e-9L && (points - 1) * bits <= need + 1e-9L);
		}
}

TEST(no_room)
{
	struct sl_checksum checksum;
	struct sl_field field = field_of(7);
	struct sl_arena arena;
	uint8_t key[SL_KEY_BYTES] = {0}, memory[64];
	sl_arena_init(&arena, memory, sizeof memory);
	assert_int_equal(sl_checksum_init(&checksum, &field, 2, key, &arena), SL_ERR_NOMEM);
}
