/* The exact engine's vectors, against 128-bit arithmetic one element at a time. */
#include "test/field/elements.h"
#include "test/lib/test.h"

#include "common/base/bytes.h"
#include "common/field/vector.h"

#define COUNT 1100u
#define DEGREE_MOST 40u

static uint64_t product(uint64_t a, uint64_t b, uint64_t p)
{
	return (uint64_t)((unsigned __int128)a * b % p);
}

struct update {
	struct sl_field field;
	uint32_t degree;
	size_t count;
	uint64_t x[COUNT], sum[COUNT], c, weights[DEGREE_MOST + 1], neighbour[DEGREE_MOST][COUNT];
	uint8_t wire[DEGREE_MOST][8 * COUNT + 8];
	const uint8_t *states[DEGREE_MOST];
};

static void update_open(struct update *b, uint64_t p, uint32_t degree, size_t count)
{
	uint64_t seed = p + degree + count;
	b->field = field_of(p);
	b->degree = degree;
	b->count = count;
	any_elements(b->x, count, p, &seed);
	any_elements(b->sum, count, p, &seed);
	any_elements(b->weights, degree + 1, p, &seed);
	any_elements(&b->c, 1, p, &seed);
	for (uint32_t r = 0; r < degree; r++) {
		any_elements(b->neighbour[r], count, p, &seed);
		b->states[r] = b->wire[r] + r % 8; /* any alignment */
		sl_bytes_pack(b->wire[r] + r % 8, b->neighbour[r], count, b->field.bits);
	}
}

/* x_i(k+1) of ROUND.md §8 Engines, and the sum's new value. */
static void plain_step(const struct update *b, size_t l, uint64_t *x, uint64_t *sum)
{
	uint64_t p = b->field.p;
	*x = product(b->weights[b->degree], b->x[l], p);
	for (uint32_t r = 0; r < b->degree; r++)
		*x = (*x + product(b->weights[r], b->neighbour[r][l], p)) % p;
	*sum = (b->sum[l] + product(b->c, *x, p)) % p;
}

static void compare_step(struct update *b)
{
	static uint64_t x[COUNT], sum[COUNT];
	for (size_t l = 0; l < b->count; l++)
		plain_step(b, l, &x[l], &sum[l]);
	sl_vector_update(&b->field, b->x, b->sum, b->c, b->count, b->states, b->weights, b->degree);
	assert_memory_equal(b->x, x, b->count * sizeof *x);
	assert_memory_equal(b->sum, sum, b->count * sizeof *sum);
}

TEST(steps_follow_the_rule)
{
	static const size_t counts[] = {0, 1, 7, 64, COUNT};
	static struct update b;
	for (size_t i = 0; i < PRIMES; i++)
		for (uint32_t degree = 0; degree <= DEGREE_MOST; degree += degree < 5 ? 1 : 7)
			for (size_t c = 0; c < 5; c++) {
				update_open(&b, primes[i], degree, counts[c]);
				compare_step(&b);
				compare_step(&b); /* x is the old x of the next */
			}
}

TEST(scaling)
{
	static uint64_t v[COUNT], was[COUNT];
	uint64_t seed = 5;
	for (size_t i = 0; i < PRIMES; i++) {
		struct sl_field field = field_of(primes[i]);
		uint64_t factors[] = {0, 1, field.p - 1, any64(&seed) % field.p};
		for (size_t f = 0; f < 4; f++) {
			any_elements(v, COUNT, field.p, &seed);
			memcpy(was, v, sizeof v);
			sl_vector_scale(&field, v, COUNT, factors[f]);
			for (size_t l = 0; l < COUNT; l++)
				assert_int_equal(v[l], product(was[l], factors[f], field.p));
		}
	}
}

TEST(taking)
{
	static uint64_t s[COUNT], was[COUNT], v[COUNT];
	static uint8_t packed[8 * COUNT + 1];
	uint64_t seed = 6;
	for (size_t i = 0; i < PRIMES; i++) {
		struct sl_field field = field_of(primes[i]);
		any_elements(s, COUNT, field.p, &seed);
		any_elements(v, COUNT, field.p, &seed);
		memcpy(was, s, sizeof s);
		sl_bytes_pack(packed + 1, v, COUNT, field.bits);
		assert_int_equal(sl_vector_take(&field, s, packed + 1, COUNT, true), SL_OK);
		for (size_t l = 0; l < COUNT; l++)
			assert_int_equal(s[l], (was[l] + v[l]) % field.p);
		assert_int_equal(sl_vector_take(&field, s, packed + 1, COUNT, false), SL_OK);
		assert_memory_equal(s, v, sizeof s);
	}
}

/* One element too large, anywhere, is found; p itself is the least that is. */
TEST(refusing)
{
	static uint64_t s[COUNT], v[COUNT];
	static uint8_t packed[8 * COUNT];
	for (size_t i = 0; i < PRIMES; i++) {
		struct sl_field field = field_of(primes[i]);
		uint64_t worst[] = {field.p, UINT64_MAX >> (64 - field.bits)};
		for (size_t at = 0; at < COUNT; at += at < 70 ? 1 : 99)
			for (size_t w = 0; w < 2; w++) {
				memset(v, 0, sizeof v);
				v[at] = worst[w];
				sl_bytes_pack(packed, v, COUNT, field.bits);
				assert_false(sl_vector_valid(&field, packed, COUNT));
				memset(s, 0, sizeof s);
				assert_int_equal(sl_vector_take(&field, s, packed, COUNT, true),
						 SL_ERR_INVALID);
				assert_int_equal(sl_vector_take(&field, s, packed, COUNT, false),
						 SL_ERR_INVALID);
				sl_bytes_pack(packed, v, at, field.bits);
				assert_true(sl_vector_valid(&field, packed, at));
				assert_int_equal(sl_vector_take(&field, s, packed, at, true), SL_OK);
			}
	}
}

/* The last byte is filled with zero bits. */
TEST(refusing_a_filling)
{
	uint64_t s[7], v[7] = {0};
	uint8_t packed[56];
	for (size_t i = 0; i < PRIMES; i++) {
		struct sl_field field = field_of(primes[i]);
		for (size_t n = 1; n <= 7; n++) {
			size_t last = sl_packed_bytes(n, field.bits) - 1;
			if (n * field.bits % 8 == 0)
				continue;
			sl_bytes_pack(packed, v, n, field.bits);
			assert_true(sl_vector_valid(&field, packed, n));
			packed[last] |= 0x80;
			assert_false(sl_vector_valid(&field, packed, n));
			assert_int_equal(sl_vector_take(&field, s, packed, n, false), SL_ERR_INVALID);
		}
	}
}
