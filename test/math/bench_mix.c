/* One iteration of mixing: ns per element and edge, on a chunk, and on a model that no cache holds. */
#include "common/math/mix.h"
#include "test/math/bench.h"

static double step_ns(size_t count, uint32_t degree)
{
	int64_t *state = bench_memory(count, sizeof *state);
	uint8_t *wire = bench_memory(degree, 8 * count + 1);
	const uint8_t **states = bench_memory(degree, sizeof *states);
	struct sl_divisor *divisors = bench_memory(degree, sizeof *divisors);
	uint64_t x = 1;
	double best;
	for (size_t l = 0; l < count; l++)
		state[l] = (int64_t)((x *= UINT64_C(6364136223846793005)) >> 2);
	for (size_t b = 0; b < degree * 8 * count; b++)
		wire[b] = b % 8 == 7 ? (uint8_t)(b / 8 % 64) : (uint8_t)(b * b);
	for (uint32_t r = 0; r < degree; r++) {
		states[r] = wire + r * 8 * count + 1; /* misaligned, as after a frame header */
		sl_divisor_init(&divisors[r], degree + 1 + r % 2);
	}
	BENCH(best, sl_mix_step(state, count, states, divisors, degree));
	free(state);
	free(wire);
	free(states);
	free(divisors);
	return best / (double)(count * degree);
}

int main(void)
{
	printf("mixing, ns per element and edge\n%8s %12s %12s\n", "degree", "32768", "1000000");
	for (uint32_t degree = 4; degree <= 20; degree += degree == 4 ? 5 : 11)
		printf("%8u %12.2f %12.2f\n", degree, step_ns(32768, degree), step_ns(1000000, degree));
	return 0;
}
