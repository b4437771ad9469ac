/* Making shares with their randomness: ns for each share, one coordinate for one neighbour. */
#include <sodium.h>

#include "common/field/share.h"
#include "test/field/bench_kernels.h"

#define COUNT 2048u
#define DEGREE_MOST 87u

struct load {
	uint64_t p;
	enum sl_sharing_kind kind;
	uint32_t degree;
};

static double share_ns(const void *what)
{
	static uint64_t x[COUNT], out[DEGREE_MOST + 1][COUNT];
	static struct sl_prg randomness[DEGREE_MOST];
	static uint8_t memory[8192];
	const struct load *load = what;
	uint64_t *scratch = bench_memory(sl_share_scratch(load->degree), sizeof *scratch),
		 *shares[DEGREE_MOST + 1];
	struct sl_arena arena;
	struct sl_field field;
	struct sl_sharing sharing;
	sl_id ids[DEGREE_MOST];
	double best;
	for (uint32_t r = 0; r <= load->degree; r++)
		shares[r] = out[r];
	for (uint32_t r = 0; r < load->degree; r++) {
		sl_prg_open(&randomness[r], (const uint8_t[SL_KEY_BYTES]){(uint8_t)r});
		ids[r] = r + 2;
	}
	sl_arena_init(&arena, memory, sizeof memory);
	if (sl_field_init(&field, load->p) != SL_OK ||
	    sl_share_init(&sharing, &field, 1, ids, load->degree, &arena) != SL_OK)
		abort();
	BENCH(best, sl_share(&sharing, load->kind, randomness, x, COUNT, shares, scratch));
	free(scratch);
	return best / (COUNT * (double)load->degree);
}

int main(void)
{
	static const uint64_t primes[] = {1020431,
					  SL_P_MERSENNE31,
					  (UINT64_C(1) << 36) - 5,
					  (UINT64_C(1) << 40) - 87,
					  (UINT64_C(1) << 44) - 17,
					  (UINT64_C(1) << 61) - 1};
	static const char *const names[] = {"shamir", "additive", "seeded"};
	static const uint32_t degrees[] = {10, 87};
	if (sodium_init() < 0) /* picks the vector unit's ChaCha20 */
		return 1;
	printf("shares, ns each\n%20s %8s %8s", "p", "sharing", "degree");
	bench_columns(NULL, NULL);
	for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
		for (size_t k = 0; k < 3; k++)
			for (size_t d = 0; d < (k == 0 ? 2 : 1); d++) {
				struct load load = {primes[i], (enum sl_sharing_kind)k, degrees[d]};
				printf("%20llu %8s %8u", (unsigned long long)load.p, names[k], load.degree);
				bench_columns(share_ns, &load);
			}
	return 0;
}
