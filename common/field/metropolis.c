#include "common/field/metropolis.h"

#include <assert.h>
#include <string.h>

#include "common/field/kernels/table.h"

/* With L = ceil(log2 d) and m = floor(2^(62+L)/d) + 1, e = m d - 2^(62+L) has 0 < e <= d <= 2^L, so for 0 < n
 * < 2^62 n/d < m n / 2^(62+L) = n/d + n e / (d 2^(62+L)) < n/d + 1/d: the floor is that of n/d, and never is
 * it met exactly. Hence floor(m x / 2^(62+L)) is trunc(x/d) for x >= 0 and trunc(x/d) - 1 for x < 0. m < 2^63
 * is a positive int64. */
void sl_metropolis_divisor_init(struct sl_divisor *divisor, uint32_t d)
{
	assert(d >= 2 && d < 1u << 20);
	uint32_t log2_up = 32 - (uint32_t)__builtin_clz(d - 1);
	unsigned __int128 power = (unsigned __int128)1 << (62 + log2_up);
	*divisor = (struct sl_divisor){.magic = (uint64_t)(power / d) + 1, .shift = log2_up - 1, .d = d};
}

void sl_metropolis_open(const uint64_t *s, uint32_t f, size_t count, int64_t *state)
{
	for (size_t l = 0; l < count; l++)
		state[l] = (int64_t)(s[l] << f);
}

void sl_metropolis_step(int64_t *state, size_t count, const uint8_t *const *states,
			const struct sl_divisor *divisors, uint32_t degree)
{
	sl_kernels()->mix(state, count, states, divisors, degree);
}

uint64_t sl_metropolis_spread(const int64_t *state, size_t count, const uint8_t *const *states,
			      uint32_t degree)
{
	uint64_t most = 0;
	for (uint32_t r = 0; r < degree; r++)
		for (size_t l = 0; l < count; l++) {
			uint64_t theirs, own = (uint64_t)state[l];
			memcpy(&theirs, states[r] + l * SL_STATE_BYTES, sizeof theirs);
			uint64_t apart = (int64_t)theirs > state[l] ? theirs - own : own - theirs;
			most = apart > most ? apart : most;
		}
	return most;
}

double sl_metropolis_close(const struct sl_field *field, uint32_t learners, uint32_t f, const int64_t *state,
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
