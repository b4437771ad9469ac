/* Time to know K: the spectrum of a random 20-regular graph, values only. */
#include "common/mixing/spectrum.h"
#include "test/graph/bench.h"
#include "test/graph/graphs.h"

static void measure(uint32_t n)
{
	struct sl_graph graph = graph_of("regular:20", n);
	double mu, best;
	BENCH(best, if (sl_spectrum_mu(&graph, &arena, &mu) != SL_OK) abort());
	printf("%8u %12.3f %12.6f %8llu\n", n, best / 1e6, mu,
	       (unsigned long long)sl_spectrum_iterations(2147483647, n, mu));
}

int main(void)
{
	open_arena(NULL);
	printf("spectrum of a random 20-regular graph\n%8s %12s %12s %8s\n", "N", "ms", "mu", "K");
	measure(100);
	measure(1000);
	return close_arena(NULL);
}
