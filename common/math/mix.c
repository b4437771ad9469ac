#include "common/math/mix.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#define BLOCK 512u /* old states and sums of a block, 8 KiB, stay in the first cache */

/* With L = ceil(log2 d) and m = floor(2^(62+L)/d) + 1, e = m d - 2^(62+L) has 0 < e <= d <= 2^L, so for 0 < n
 * < 2^62 n/d < m n / 2^(62+L) = n/d + n e / (d 2^(62+L)) < n/d + 1/d: the floor is that of n/d, and never is
 * it met exactly. Hence floor(m x / 2^(62+L)) is trunc(x/d) for x >= 0 and trunc(x/d) - 1 for x < 0. m < 2^63
 * is a positive int64. */
void sl_divisor_init(struct sl_divisor *divisor, uint32_t d)
{
	assert(d >= 2 && d < 1u << 20);
	uint32_t log2_up = 32 - (uint32_t)__builtin_clz(d - 1);
	unsigned __int128 power = (unsigned __int128)1 << (62 + log2_up);
	*divisor = (struct sl_divisor){.magic = (uint64_t)(power / d) + 1, .shift = log2_up - 1, .d = d};
}

/* In unsigned words, so that a peer's nonsense (|x| >= 2^62) wraps instead of being undefined. */
static inline uint64_t quotient(int64_t magic, uint32_t shift, uint64_t x)
{
	int64_t high = (int64_t)(((__int128)(int64_t)(x << 1) * magic) >> 64); /* floor(m x / 2^63) */
	return (uint64_t)(high >> shift) + (x >> 63);
}

int64_t sl_divide(const struct sl_divisor *divisor, int64_t x)
{
	return (int64_t)quotient((int64_t)divisor->magic, divisor->shift, (uint64_t)x);
}

void sl_mix_open(const uint64_t *s, uint32_t f, size_t count, int64_t *state)
{
	for (size_t l = 0; l < count; l++)
		state[l] = (int64_t)(s[l] << f);
}

static inline uint64_t load(const uint8_t *wire)
{
	uint64_t v;
	memcpy(&v, wire, sizeof v);
	return le64toh(v);
}

/* sum[l] += trunc((X_j - X_i) / d) for one neighbour j. */
static void gather(uint64_t *restrict sum, const uint64_t *restrict old, const uint8_t *restrict wire,
		   const struct sl_divisor *divisor, size_t count)
{
	int64_t magic = (int64_t)divisor->magic;
	uint32_t shift = divisor->shift;
	for (size_t l = 0; l < count; l++)
		sum[l] += quotient(magic, shift, load(wire + 8 * l) - old[l]);
}

void sl_mix_step(int64_t *state, size_t count, const uint8_t *const *states,
		 const struct sl_divisor *divisors, uint32_t degree)
{
	uint64_t old[BLOCK], sum[BLOCK];
	for (size_t at = 0; at < count; at += BLOCK) {
		size_t n = count - at < BLOCK ? count - at : BLOCK;
		memcpy(old, state + at, n * sizeof *old);
		memcpy(sum, old, n * sizeof *sum);
		for (uint32_t r = 0; r < degree; r++)
			gather(sum, old, states[r] + 8 * at, &divisors[r], n);
		memcpy(state + at, sum, n * sizeof *sum);
	}
}

double sl_mix_close(const struct sl_field *field, uint32_t learners, uint32_t f, const int64_t *state,
		    size_t count, uint64_t *z)
{
	assert(f >= 1 && f < 63);
	uint64_t one = UINT64_C(1) << f, worst = 0;
	for (size_t l = 0; l < count; l++) {
		__int128 scaled = (__int128)state[l] * learners;
		uint64_t below = (uint64_t)scaled & (one - 1); /* the fraction, counted from the floor */
		uint64_t off = below < one - below ? below : one - below;
		worst = off > worst ? off : worst;
		__int128 nearest = (scaled + (one >> 1)) >> f;
		int64_t rest = (int64_t)(nearest % (__int128)field->p);
		z[l] = rest < 0 ? (uint64_t)rest + field->p : (uint64_t)rest;
	}
	return (double)worst / (double)one;
}
