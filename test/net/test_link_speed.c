/* The measured speed of a link: unknown, a lower bound, and the emulator's limit. */
#include <math.h>
#include <stdint.h>

#include "test/lib/test.h"
#include "daemon/net/link_speed.h"
#include "test/net/pair.h"

#define VECTOR (256u << 10)

/* A vector of 2 MB in 7 round trips, and what is said of the last flight. */
static double flight(double rtt_s, unsigned round_trips)
{
	struct sl_link_speed speed = {0};
	struct sl_tcp_info info = {.rtt_s = rtt_s, .acked = 500, .busy_us = 3000000, .pending = true};
	sl_link_speed_begin_at(&speed, &info);
	for (unsigned k = 0; k < round_trips; k++) {
		info.acked += 300000;
		info.busy_us += (uint64_t)(rtt_s * 1e6);
		info.delivery = 1e6 * (k + 1);
		info.pending = k + 1 < round_trips;
		sl_link_speed_look_at(&speed, &info);
	}
	assert_false(speed.marked);
	return speed.flight;
}

TEST(a_window_that_still_grows)
{
	assert_true(flight(0.1, 7) == 7e6);
	assert_true(flight(0.1, 15) == 15e6);
	assert_true(flight(0.1, 16) == 0);   /* the mean is that of the line */
	assert_true(flight(0.0005, 7) == 0); /* the kernel's rate is of steps */
}

static double speed_of(struct pair *pair, int end)
{
	bool floor;
	return sl_links_speed(pair->ends[end].links, (uint32_t)(1 - end), &floor);
}

static bool is_floor(struct pair *pair, int end)
{
	bool floor;
	sl_links_speed(pair->ends[end].links, (uint32_t)(1 - end), &floor);
	return floor;
}

static struct pair *open_linked(void)
{
	struct pair *pair = pair_alone();
	for (int end = 0; end < 2; end++)
		assert_true(speed_of(pair, end) == 0 && is_floor(pair, end));
	pair_want(pair, 0, true);
	pair_await(pair, 2000, pair_settled);
	return pair;
}

static void close_linked(struct pair *pair)
{
	sl_links_drop(pair->ends[0].links, 1, "ended");
	assert_true(speed_of(pair, 0) == 0);
	pair_end(pair);
}

static bool arrived(void *argument)
{
	const struct pair *pair = argument;
	return pair->ends[1].received == pair->ends[0].sent;
}

/* Send `count` vectors; return the seconds that they took. */
static double send_vectors(struct pair *pair, uint32_t count)
{
	uint64_t start = uv_hrtime();
	for (uint32_t k = 0; k < count; k++)
		end_send(&pair->ends[0], VECTOR, true);
	end_flush(&pair->ends[0]);
	pair_await(pair, 20000, arrived);
	double took = (double)(uv_hrtime() - start) / 1e9;
	net_elapse(pair->net, 30); /* a tick has looked */
	return took;
}

TEST(a_link_has_a_floor_and_then_a_speed)
{
	struct pair *pair = open_linked();
	pair_expect_frames(pair);
	for (int end = 0; end < 2; end++)
		assert_true(speed_of(pair, end) > 0 && is_floor(pair, end));
	send_vectors(pair, 8);
	assert_true(speed_of(pair, 0) > 1e6 && !is_floor(pair, 0));
	assert_true(is_floor(pair, 1));
	close_linked(pair);
}

/* Vectors that took `seconds`, until the test saw them: on a busy machine it sees them late, and the road
 * alone says how quick the link may be. */
static void expect_about(struct pair *pair, double vectors, double seconds)
{
	double speed = speed_of(pair, 0), known = vectors * VECTOR / seconds;
	double most = fmax(known, (double)pair->emulators[1].bytes_per_s);
	print_message("%.2f MB/s where vectors pass at %.2f MB/s\n", speed / 1e6, known / 1e6);
	assert_true(speed > known * 0.7 && speed < most * 1.5);
}

/* Control frames that take their time. */
static void dawdle(struct pair *pair)
{
	uint64_t before = pair->emulators[1].bytes_per_s;
	pair->emulators[1].bytes_per_s = 50000;
	for (int k = 0; k < 10; k++) {
		end_send(&pair->ends[0], 1000, false);
		end_flush(&pair->ends[0]);
		net_elapse(pair->net, 1);
	}
	pair_await(pair, 5000, arrived);
	pair->emulators[1].bytes_per_s = before;
}

/* Neither idle time nor control frames count, before and between the vectors. */
TEST(the_speed_is_the_roads)
{
	struct pair *pair = open_linked();
	pair->emulators[1].bytes_per_s = 8000000;
	dawdle(pair);
	double took = send_vectors(pair, 8);
	expect_about(pair, 8, took);
	net_elapse(pair->net, 200);
	dawdle(pair);
	took += send_vectors(pair, 1);
	expect_about(pair, 9, took);
	for (int k = 0; k < 4; k++)
		took += send_vectors(pair, 1);
	expect_about(pair, 13, took);
	close_linked(pair);
}

static bool has_a_speed(void *argument)
{
	return !is_floor(argument, 0);
}

/* While they are still on their way, too. */
TEST(a_look_during_the_first_exchange)
{
	struct pair *pair = open_linked();
	pair->emulators[1].bytes_per_s = 4000000;
	uint64_t start = uv_hrtime();
	for (uint32_t k = 0; k < 24; k++)
		end_send(&pair->ends[0], VECTOR, true);
	end_flush(&pair->ends[0]);
	net_elapse(pair->net, 400);
	pair_await(pair, 5000, has_a_speed);
	expect_about(pair, pair->ends[1].received, (double)(uv_hrtime() - start) / 1e9);
	close_linked(pair);
}
