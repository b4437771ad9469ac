/* What a round on hosts waited for, out of samples. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "test/lib/test.h"
#include "tools/dev/bench/hosts.h"

/* Samples at 0, 1, 2 .. s; each row is the second before its sample. */
static const struct sl_hosts_sample samples[] = {
	{.at_s = 0},
	{.at_s = 1, .busy = 0.9, .ran = 0.5, .disk = true, .sent = {100, 10}},
	{.at_s = 2, .busy = 0.7, .ran = 0.75, .disk = true, .sent = {150, 30}},
	{.at_s = 3, .ran = 0.25, .delayed = 0.75, .sent = {150, 130}},
	{.at_s = 4, .disk = true, .sent = {160, 230}},
	{.at_s = 5, .ran = 0.25, .sent = {160, 230}},
	{.at_s = 6, .delayed = 1, .sent = {170, 230}},
};
#define COUNT (sizeof samples / sizeof *samples)

static void expect(double from_s, double to_s, struct sl_hosts_waits wanted)
{
	struct sl_hosts_waits w = sl_hosts_waits(samples, COUNT, from_s, to_s);
	assert_true(fabs(w.bandwidth - wanted.bandwidth) < 1e-9);
	assert_true(fabs(w.cpu - wanted.cpu) < 1e-9);
	assert_true(fabs(w.processor - wanted.processor) < 1e-9);
	assert_true(fabs(w.disk - wanted.disk) < 1e-9);
	assert_true(fabs(w.trips - wanted.trips) < 1e-9);
}

TEST(each_moment_counts_once)
{
	expect(0, 1, (struct sl_hosts_waits){.bandwidth = 1}); /* although a learner runs */
	expect(1, 2, (struct sl_hosts_waits){.cpu = 0.75, .disk = 0.25});
	expect(2, 3, (struct sl_hosts_waits){.cpu = 0.25, .processor = 0.75});
	expect(3, 4, (struct sl_hosts_waits){.disk = 1});
	expect(4, 5, (struct sl_hosts_waits){.cpu = 0.25, .trips = 0.75});
	expect(5, 6, (struct sl_hosts_waits){.processor = 1});
	expect(0, 6, (struct sl_hosts_waits){1, 1.25, 1.75, 1.25, 0.75});
}

TEST(a_part_of_a_sample_counts_in_part)
{
	expect(0.5, 1.25, (struct sl_hosts_waits){.bandwidth = 0.5, .cpu = 0.1875, .disk = 0.0625});
	expect(3.25, 3.5, (struct sl_hosts_waits){.disk = 0.25});
	expect(7, 8, (struct sl_hosts_waits){0}); /* after the last sample */
}

TEST(the_busiest_host_of_a_round)
{
	assert_int_equal(sl_hosts_waits_sent(samples, COUNT, 2, 0, 2), 150);
	assert_int_equal(sl_hosts_waits_sent(samples, COUNT, 2, 2, 4), 200);
	assert_int_equal(sl_hosts_waits_sent(samples, COUNT, 1, 2, 4), 10);
	assert_int_equal(sl_hosts_waits_sent(samples, COUNT, 2, 4, 9), 10); /* to the last sample */
	assert_int_equal(sl_hosts_waits_sent(samples, 0, 2, 0, 1), 0);
}

TEST(a_queue_holds_50_ms_and_at_least_128_kib)
{
	assert_int_equal(sl_hosts_net_queue_bytes(&(struct sl_bench_hosts){.mbit = 1000}), 6250000);
	assert_int_equal(sl_hosts_net_queue_bytes(&(struct sl_bench_hosts){.mbit = 10}), 131072);
}
