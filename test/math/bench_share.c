/* Making the shares of one model: ns per element (coordinate and neighbour), and per coordinate. */
#include <sodium.h>

#include "common/math/share.h"
#include "test/math/bench.h"

#define COUNT 32768u
#define DEGREE_MOST 20u

static double share_ns(uint64_t p, enum sl_sharing_kind kind, uint32_t degree)
{
	static uint64_t x[COUNT], out[DEGREE_MOST + 1][COUNT];
	static struct sl_coins coins[DEGREE_MOST];
	uint64_t *scratch = bench_memory(sl_share_scratch(degree), sizeof *scratch), *shares[DEGREE_MOST + 1];
	uint8_t memory[1024];
	struct sl_arena arena;
	struct sl_field field;
	struct sl_sharing sharing;
	sl_id ids[DEGREE_MOST];
	double best;
	for (uint32_t r = 0; r <= degree; r++)
		shares[r] = out[r];
	for (uint32_t r = 0; r < degree; r++) {
		sl_coins_open(&coins[r], (const uint8_t[SL_KEY_BYTES]){(uint8_t)r});
		ids[r] = r + 2;
	}
	sl_arena_init(&arena, memory, sizeof memory);
	if (sl_field_init(&field, p) != SL_OK ||
	    sl_sharing_init(&sharing, &field, 1, ids, degree, &arena) != SL_OK)
		abort();
	BENCH(best, sl_share(&sharing, kind, coins, x, COUNT, shares, scratch));
	free(scratch);
	return best / (COUNT * (double)degree);
}

int main(void)
{
	static const uint64_t primes[] = {SL_P_MERSENNE31, (UINT64_C(1) << 44) - 17, (UINT64_C(1) << 61) - 1};
	static const uint32_t degrees[] = {4, 9, 20};
	if (sodium_init() < 0) /* picks the vector unit's ChaCha20 */
		return 1;
	printf("shares, ns per element and neighbour\n%20s %8s %10s %10s\n", "p", "degree", "shamir",
	       "additive");
	for (size_t i = 0; i < 3; i++)
		for (size_t d = 0; d < 3; d++)
			printf("%20llu %8u %10.2f %10.2f\n", (unsigned long long)primes[i], degrees[d],
			       share_ns(primes[i], SL_SHARING_SHAMIR, degrees[d]),
			       share_ns(primes[i], SL_SHARING_ADDITIVE, degrees[d]));
	return 0;
}
