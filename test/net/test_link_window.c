/* How much the kernel holds for a link: the choice, the bound over all links, and the order of frames. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/limits.h"
#include "daemon/net/tcp_info.h"
#include "test/lib/test.h"
#include "test/net/pair.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define FIXED SL_LINK_WINDOW_FIXED
#define GROWING SL_LINK_WINDOW_GROWING
#define KEPT SL_LINK_WINDOW_KEPT

TEST(the_window_follows_rate_round_trip_and_links)
{
	static const struct {
		enum sl_link_window_mode now;
		struct sl_link_path path;
		struct sl_link_window next;
	} rows[] = {
		/* mode, rate, rtt, links, size -> mode, fixed, unsent, reno */
		{FIXED, {0, 0, 1, MIB}, {FIXED, 256 * KIB, 0, false}},		     /* nothing known */
		{FIXED, {0, 50e-6, 9, MIB}, {FIXED, 256 * KIB, 0, false}},	     /* loopback */
		{FIXED, {1e9, 50e-6, 9, MIB}, {FIXED, 256 * KIB, 10000000, false}},  /* .. measured */
		{FIXED, {12e6, 1e-3, 9, MIB}, {FIXED, 256 * KIB, 120000, false}},    /* LAN, 100 Mbit */
		{FIXED, {12e6, 1e-3, 512, MIB}, {FIXED, 128 * KIB, 120000, false}},  /* .. many links */
		{FIXED, {0, 1.1e-3, 9, MIB}, {GROWING, 256 * KIB, 0, false}},	     /* may be 1 Gbit */
		{FIXED, {1e9, 3e-4, 9, MIB}, {GROWING, 256 * KIB, 10000000, false}}, /* LAN, 10 Gbit */
		{FIXED, {0, 0.1, 9, MIB}, {GROWING, 256 * KIB, 0, false}},	     /* far away */
		{FIXED, {0, 0.1, 500, MIB}, {FIXED, SL_LINK_WINDOW_TOTAL / 2000, 0, false}}, /* .. no room */
		{GROWING, {100e6, 0.1, 9, 20 * MIB}, {GROWING, 256 * KIB, 1000000, false}}, /* long and fat */
		{GROWING, {1e6, 0.1, 9, 2 * MIB}, {GROWING, 256 * KIB, 64 * KIB, false}}, /* long and thin */
		{GROWING, {100e6, 0.1, 9, 29 * MIB}, {KEPT, 256 * KIB, 1000000, false}},  /* has its share */
		{KEPT, {100e6, 0.1, 9, 56 * MIB}, {KEPT, 256 * KIB, 1000000, false}},	  /* .. twice */
		{KEPT, {100e6, 0.1, 9, 57 * MIB}, {FIXED, 256 * KIB, 1000000, false}},	  /* .. too much */
		{KEPT, {100e6, 0.1, 8, 29 * MIB}, {GROWING, 256 * KIB, 1000000, false}},  /* a link fewer */
		{GROWING,
		 {100e6, 0.1, 0, 29 * MIB},
		 {GROWING, 256 * KIB, 1000000, false}}, /* none counted yet */
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct sl_link_window now = {.mode = rows[i].now},
				      next = sl_link_window_choose(&now, &rows[i].path);
		if (next.mode != rows[i].next.mode || next.fixed != rows[i].next.fixed ||
		    next.unsent != rows[i].next.unsent)
			fail_msg("row %zu: mode %d, fixed %zu, unsent %zu", i, next.mode, next.fixed,
				 next.unsent);
	}
}

/* However many links and however large they are: a link grows only below its share, and at twice the share it
 * is set back to buffers that fit the share, which the kernel counts twice in each direction. */
TEST(all_links_together_are_bounded)
{
	for (uint32_t links = 1; links <= SL_LEARNERS_MAX; links++) {
		size_t share = SL_LINK_WINDOW_TOTAL / links;
		for (int mode = FIXED; mode <= KEPT; mode++) {
			struct sl_link_window now = {.mode = (enum sl_link_window_mode)mode}, next;
			struct sl_link_path path = {.rate = 1e9, .rtt_s = 1, .links = links, .size = share};
			next = sl_link_window_choose(&now, &path);
			assert_true(next.mode != GROWING && 4 * next.fixed <= share);
			path.size = 2 * share + 1;
			next = sl_link_window_choose(&now, &path);
			assert_true(next.mode == FIXED && 4 * next.fixed <= share);
		}
	}
}

/* ---- over sockets ---- */

static struct pair *open_linked(void)
{
	struct pair *pair = pair_alone();
	pair_want(pair, 0, true);
	pair_await(pair, 2000, pair_settled);
	return pair;
}

TEST(a_short_link_has_small_buffers)
{
	struct pair *pair = open_linked();
	const struct sl_link *link = end_link(&pair->ends[0]);
	assert_int_equal(link->window.mode, FIXED);
	assert_in_range(sl_link_window_size(sl_link_descriptor(link)), 1, 4 * SL_LINK_WINDOW_SMALL);
	pair_end(pair);
}

/* Return true if the kernel adapts the buffers; skip the case if it cannot be asked (Linux before 5.14). */
static bool adapts(int descriptor)
{
	int locks = 0;
	socklen_t size = sizeof locks;
	if (getsockopt(descriptor, SOL_SOCKET, SO_BUF_LOCK, &locks, &size) != 0)
		skip();
	return locks == 0;
}

/* The same socket as a link that is measured as fast, that has its share, and beside 2,000 others. */
TEST(the_kernel_adapts_growing_buffers_only)
{
	struct sl_link_window window;
	int descriptor = socket(AF_INET, SOCK_STREAM, 0);
	struct sl_link_path path = {.rate = 1e9, .rtt_s = 1, .links = 1};
	sl_link_window_open(&window, descriptor, 1);
	assert_true(window.mode == FIXED && !adapts(descriptor));
	size_t fixed = sl_link_window_size(descriptor);
	window = sl_link_window_set(&window, descriptor, &path);
	assert_true(window.mode == GROWING && adapts(descriptor));
	path.size = SL_LINK_WINDOW_TOTAL;
	window = sl_link_window_set(&window, descriptor, &path);
	assert_true(window.mode == KEPT && !adapts(descriptor));
	assert_int_equal(sl_link_window_size(descriptor), fixed);
	path.links = SL_LEARNERS_MAX;
	window = sl_link_window_set(&window, descriptor, &path);
	assert_true(window.mode == FIXED && !adapts(descriptor));
	assert_in_range(sl_link_window_size(descriptor), 1, SL_LINK_WINDOW_TOTAL / SL_LEARNERS_MAX);
	close(descriptor);
}

static void expect_algorithm(int descriptor, const char *name)
{
	char found[16] = "";
	socklen_t size = sizeof found - 1;
	assert_int_equal(getsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, found, &size), 0);
	assert_string_equal(found, name);
}

/* Set the window of a socket that the system has given `algorithm`, with a short line, a long one, and no
 * line that is known; expect the algorithm `near` over the short one. Skip the case without `algorithm`. */
static void follow_line(const char *algorithm, const char *near)
{
	struct sl_link_window window;
	struct sl_link_path path = {.links = 1};
	int descriptor = socket(AF_INET, SOCK_STREAM, 0);
	if (setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, algorithm, (socklen_t)strlen(algorithm)) != 0)
		skip();
	sl_link_window_open(&window, descriptor, 1);
	expect_algorithm(descriptor, algorithm);
	for (int i = 0; i < 2; i++) {
		path.rtt_s = 0.0009;
		window = sl_link_window_set(&window, descriptor, &path);
		window = sl_link_window_set(&window, descriptor, &path);
		expect_algorithm(descriptor, near);
		path.rtt_s = 0.0011;
		window = sl_link_window_set(&window, descriptor, &path);
		expect_algorithm(descriptor, algorithm);
	}
	close(descriptor);
}

TEST(reno_stands_in_for_bbr_over_a_short_line)
{
	follow_line("bbr", "reno");
}

TEST(reno_stays_where_the_system_has_set_it)
{
	follow_line("reno", "reno");
}

static bool is_measured(void *argument)
{
	const struct pair *pair = argument;
	return pair->ends[1].received == pair->ends[0].sent &&
	       end_link(&pair->ends[0])->window.unsent == SL_LINK_WINDOW_UNSENT;
}

static bool is_blocked(void *argument)
{
	const struct pair *pair = argument;
	return end_link(&pair->ends[0])->in_flight > 0;
}

static bool has_control(void *argument)
{
	const struct pair *pair = argument;
	return pair->ends[1].controls > 0;
}

static void send_vectors(struct pair *pair, uint32_t count, size_t size)
{
	for (uint32_t k = 0; k < count; k++)
		end_send(&pair->ends[0], size, true);
	end_flush(&pair->ends[0]);
}

/* Block a slow link behind 100 vectors; then queue a control frame. */
TEST(control_frames_pass_what_the_kernel_has_not_been_given)
{
	static const uint32_t size = 64u << 10, vectors = 100;
	struct pair *pair = open_linked();
	struct sl_tcp_info info;
	struct sl_link_figures state;
	pair->emulators[1].bytes_per_s = 2000000;
	send_vectors(pair, 32, size);
	pair_await(pair, 10000, is_measured);
	pair->emulators[1].pass[THERE] = 0;
	send_vectors(pair, vectors, size);
	pair_await(pair, 2000, is_blocked);
	const struct sl_link *link = end_link(&pair->ends[0]);
	assert_true(sl_tcp_info_get(sl_link_descriptor(link), &info));
	assert_in_range(info.unsent, 0, SL_LINK_WINDOW_UNSENT + SL_SEGMENT_BYTES);
	assert_true(sl_links_figures_of(pair->ends[0].links, 1, &state));
	assert_true(state.rtt_s > 0 && state.rate > 0 && state.unsent <= info.unsent);
	assert_int_equal(state.waiting, sl_links_waiting(pair->ends[0].links, 1) + link->in_flight);
	assert_int_equal(state.buffers, sl_link_window_size(sl_link_descriptor(link)));
	uint32_t before = pair->ends[1].received;
	end_send(&pair->ends[0], 100, false);
	end_flush(&pair->ends[0]);
	emulator_let_pass(&pair->emulators[1]);
	pair->emulators[1].bytes_per_s = 0;
	pair_await(pair, 10000, has_control);
	assert_in_range(pair->ends[1].received - 1 - before, 0, vectors / 2);
	sl_links_drop(pair->ends[0].links, 1, "ended");
	assert_false(sl_links_figures_of(pair->ends[0].links, 1, &state));
	assert_true(state.rtt_s == 0 && state.buffers == 0);
	pair_end(pair);
}
