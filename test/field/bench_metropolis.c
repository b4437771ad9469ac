/* A metropolis iteration: ns for each element and edge, and us for the paper's graph of 87 neighbours, n =
 * 2353. */
#include "common/field/metropolis.h"
#include "test/field/bench_kernels.h"

struct load {
	size_t count;
	uint32_t degree;
};

static double step_ns(const void *what)
{
	const struct load *load = what;
	size_t count = load->count, degree = load->degree;
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
		sl_metropolis_divisor_init(&divisors[r], load->degree + 1 + r % 2);
	}
	BENCH(best, sl_metropolis_step(state, count, states, divisors, load->degree));
	free(state);
	free(wire);
	free(states);
	free(divisors);
	return best / (double)(count * degree);
}

static double paper_us(const void *what)
{
	const struct load *load = what;
	return step_ns(load) * (double)(load->count * load->degree) / 1e3;
}

int main(void)
{
	static const uint32_t degrees[] = {4, 9, 20};
	static const size_t counts[] = {2353, 32768, 1000000};
	struct load paper = {2353, 87};
	printf("mixing, ns per element and edge\n%8s %8s", "count", "degree");
	bench_columns(NULL, NULL);
	for (size_t c = 0; c < 3; c++)
		for (size_t d = 0; d < 3; d++) {
			struct load load = {counts[c], degrees[d]};
			printf("%8zu %8u", load.count, load.degree);
			bench_columns(step_ns, &load);
		}
	printf("%8zu %8u us", paper.count, paper.degree);
	bench_columns(paper_us, &paper);
	return 0;
}
