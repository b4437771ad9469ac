#include "daemon/net/hop.h"

#include <math.h>

#define PROGRAMS_S 0.0005 /* of a hop: until the receiver has read a message, and acted on it */

uint64_t sl_hop_bytes(const struct sl_link_figures *links, size_t count)
{
	double rate = 0, rtt_s = 0;
	for (size_t i = 0; i < count; i++) {
		rate += fmax(links[i].rate, links[i].flight);
		rtt_s = fmax(rtt_s, links[i].rtt_s);
	}
	double bytes = fmin(rate * (rtt_s / 2 + PROGRAMS_S), (double)SL_HOP_BYTES_MAX);
	return bytes < 1 ? 0 : 1ull << (unsigned)floor(log2(bytes));
}
