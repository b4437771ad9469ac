/* What a learner could send while a message crosses a link (hop.h). */
#include "daemon/net/hop.h"
#include "test/lib/test.h"

static uint64_t hop(double rate, double rtt_s)
{
	struct sl_link_figures links[3] = {{.rate = rate, .rtt_s = rtt_s / 2},
					   {.rate = rate, .rtt_s = rtt_s},
					   {.rtt_s = rtt_s / 4}}; /* idle: no rate is known */
	return sl_hop_bytes(links, 3);
}

/* Rates add up, the longest way counts, and the result is a power of two. */
TEST(rate_times_time)
{
	assert_int_equal(hop(10e6, 0.1), 1 << 19);   /* 20 MB/s for 50.5 ms: 1.01 MB */
	assert_int_equal(hop(10.4e6, 0.1), 1 << 20); /* 1.0504 MB */
	assert_int_equal(hop(1e6, 0), 512);	     /* the programs take 0.5 ms */
}

/* What a few long round trips carried says less than the last one of them. */
TEST(rate_of_the_last_flight)
{
	struct sl_link_figures link = {.rate = 4e6, .rtt_s = 0.1, .flight = 11e6};
	assert_int_equal(sl_hop_bytes(&link, 1), 1 << 19); /* 0.5555 MB */
	link.flight = 1e6;
	assert_int_equal(sl_hop_bytes(&link, 1), 1 << 17); /* 0.2 MB */
}

TEST(limits)
{
	assert_int_equal(hop(0, 0.1), 0);
	assert_int_equal(sl_hop_bytes(NULL, 0), 0);
	assert_int_equal(hop(1, 0.001), 0);
	assert_int_equal(hop(1e12, 10), SL_HOP_BYTES_MAX);
}
