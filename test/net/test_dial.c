/* Either end dials, and one link is up: collisions, and networks that let only one end connect. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "test/lib/test.h"
#include "test/net/pair.h"

#define PAIRS 64
#define HEAD_START_MS 100
#define WAIT_MS 15000
#define QUIET_MS 200 /* longer than the head start and a pause: a link that flaps is seen */

struct crowd {
	struct pair *pairs;
	size_t count;
};

static bool all_settled(void *argument)
{
	const struct crowd *crowd = argument;
	for (size_t i = 0; i < crowd->count; i++)
		if (!pair_settled(&crowd->pairs[i]))
			return false;
	return true;
}

static bool all_heard(void *argument)
{
	const struct crowd *crowd = argument;
	for (size_t i = 0; i < crowd->count; i++)
		if (!pair_heard(&crowd->pairs[i]))
			return false;
	return true;
}

/* Give each pair delays of its own. */
static void open_all(struct net *net, struct pair *pairs)
{
	static const uint32_t jitters[] = {0, 3, 15, 60};
	for (uint32_t i = 0; i < PAIRS; i++) {
		pair_open(&pairs[i], net);
		for (uint32_t k = 0; k < 2; k++) {
			pairs[i].emulators[k].jitter_ms = jitters[(k == 0 ? i : i / 4) % 4];
			pairs[i].emulators[k].random = i * 2 + k;
		}
	}
}

/* Each pair has its instant, at which the head start is over for the second end; the first end dials up to 20
 * ms before or after it. A few pairs at a time: the handshakes of all would take longer than the delays. */
static void start_all(struct net *net, struct pair *pairs)
{
	uint64_t start = uv_now(&net->loop);
	bool told[PAIRS][3] = {0};
	while (!told[PAIRS - 1][1] || !told[PAIRS - 1][2]) {
		uint64_t ms = uv_now(&net->loop) - start;
		for (uint32_t i = 0; i < PAIRS; i++) {
			uint64_t begin = i / 8 * 50;
			const struct {
				int end;
				uint64_t at;
			} wants[3] = {{1, begin},
				      {0, begin + HEAD_START_MS - 20 + i * 7 % 41},
				      {1, begin + HEAD_START_MS}};
			for (int k = 0; k < 3; k++)
				if (!told[i][k] && ms >= wants[k].at) {
					told[i][k] = true;
					pair_want(&pairs[i], wants[k].end, true);
				}
		}
		net_turn(net);
	}
}

TEST(at_the_same_instant)
{
	struct net net;
	struct pair *pairs = calloc(PAIRS, sizeof *pairs);
	struct crowd crowd = {pairs, PAIRS};
	size_t collisions = 0, by_first = 0, again = 0;
	net_open(&net);
	open_all(&net, pairs);
	start_all(&net, pairs);
	assert_true(net_until(&net, WAIT_MS, all_settled, &crowd));
	net_elapse(&net, QUIET_MS);
	for (size_t i = 0; i < PAIRS; i++) {
		collisions += pairs[i].emulators[0].opened > 0 && pairs[i].emulators[1].opened > 0;
		by_first += end_link(&pairs[i].ends[0])->dialled;
		uint32_t opened = pairs[i].emulators[0].opened + pairs[i].emulators[1].opened;
		again += opened > 2 ? opened - 2 : 0;
		pair_expect_clean(&pairs[i]);
		pair_say(&pairs[i]);
	}
	assert_true(net_until(&net, WAIT_MS, all_heard, &crowd));
	print_message("%zu of %d collided; %zu links dialled by the first\n", collisions, PAIRS, by_first);
	assert_true(again <=
		    PAIRS / 4); /* on a slow machine some of so many handshakes are not done in time */
	assert_true(collisions > 0 &&
		    by_first > 0); /* how many, is the machine's affair: where it is slow, all of them */
	for (size_t i = 0; i < PAIRS; i++)
		pair_close(&pairs[i]);
	net_close(&net);
	free(pairs);
}

/* Interleavings, step by step. `pass`: pieces of each connection that the emulator lets through. */

static bool both_offered(void *argument)
{
	const struct pair *pair = argument;
	const struct sl_link *a = end_dial(&pair->ends[0]), *b = end_dial(&pair->ends[1]);
	return a != NULL && b != NULL && a->state == SL_LINK_OFFERED && b->state == SL_LINK_OFFERED;
}

/* Both ends have dialled and believe that the other one accepts: neither Finished has arrived. */
static struct pair *offer_both(void)
{
	struct pair *pair = pair_alone();
	pair->emulators[0].pass[THERE] = pair->emulators[1].pass[THERE] = 1;
	pair_want(pair, 1, true);
	net_elapse(pair->net, HEAD_START_MS - 20);
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, both_offered);
	assert_int_equal(pair->ends[0].ups + pair->ends[1].ups, 0);
	/* an end that is turned away does not dial again while a slow machine is on its way to the next step
	 */
	pair->net->timing.retry_least = pair->net->timing.retry_most = WAIT_MS;
	return pair;
}

/* One link, the first's if `by_first`, and nothing else ever happened. */
static void expect_one(struct pair *pair, bool by_first)
{
	pair_await(pair, WAIT_MS, pair_settled);
	net_elapse(pair->net, QUIET_MS);
	pair_expect_clean(pair);
	assert_int_equal(end_link(&pair->ends[0])->dialled, by_first);
	assert_int_equal(pair->emulators[0].opened, 1);
	assert_int_equal(pair->emulators[1].opened, 1);
	pair_expect_frames(pair);
	pair_end(pair);
}

static bool second_is_free(void *argument)
{
	return end_dial(&((struct pair *)argument)->ends[1]) == NULL;
}

TEST(the_losers_offer_first)
{
	struct pair *pair = offer_both();
	emulator_let_pass(&pair->emulators[0]);
	pair_await(pair, 200, second_is_free); /* turned away, while the first's own is only offered */
	assert_int_equal(pair->ends[0].ups + pair->ends[1].ups, 0);
	emulator_let_pass(&pair->emulators[1]);
	expect_one(pair, true);
}

static bool first_is_up(void *argument)
{
	return ((struct pair *)argument)->ends[0].up;
}

static bool second_is_up(void *argument)
{
	return ((struct pair *)argument)->ends[1].up;
}

TEST(the_winners_offer_first)
{
	struct pair *pair = offer_both();
	emulator_let_pass(&pair->emulators[1]);
	pair_await(pair, WAIT_MS, first_is_up);
	emulator_let_pass(&pair->emulators[0]); /* a Finished of a cancelled link */
	expect_one(pair, true);
}

TEST(the_losers_offer_while_the_word_is_under_way)
{
	struct pair *pair = offer_both();
	pair->emulators[1].pass[BACK] = 1;
	pair->emulators[1].pass[THERE] = UINT32_MAX;
	pair_await(pair, WAIT_MS, second_is_up);
	assert_false(pair->ends[0].up);
	emulator_let_pass(&pair->emulators[0]);
	net_elapse(pair->net, 50);
	assert_false(pair->ends[0].up);
	emulator_let_pass(&pair->emulators[1]);
	expect_one(pair, true);
}

static bool first_dialled(void *argument)
{
	return ((struct pair *)argument)->emulators[1].opened > 0;
}

static bool second_dialled(void *argument)
{
	return ((struct pair *)argument)->emulators[0].opened > 0;
}

static bool both_dialled(void *argument)
{
	return first_dialled(argument) && second_dialled(argument);
}

/* The dial of end `slow` gets no answer to its first flight; the other end's, begun later, gets through. */
static void one_is_slow(int slow)
{
	struct pair *pair = pair_alone();
	pair->emulators[1 - slow].pass[BACK] = 0;
	pair_want(pair, slow, true);
	pair_await(pair, HEAD_START_MS + 200, slow == 1 ? second_dialled : first_dialled);
	net_elapse(pair->net, 50);
	pair_want(pair, 1 - slow, true);
	pair_await(pair, 1500, both_dialled);
	pair_await(pair, 500, second_is_up);
	emulator_let_pass(&pair->emulators[1 - slow]);
	expect_one(pair, slow == 1);
}

TEST(the_first_is_slow)
{
	one_is_slow(0);
}

TEST(the_second_is_slow)
{
	one_is_slow(1);
}

/* Networks that let only one end connect. */

static void open_one_way(struct net *net, struct pair pairs[4])
{
	for (int i = 0; i < 4; i++) {
		pair_open(&pairs[i], net);
		pairs[i].emulators[i / 2].closed = i % 2 == 0;
		pairs[i].emulators[i / 2].deaf = i % 2 == 1;
	}
}

TEST(one_way_emulators)
{
	struct net net;
	struct pair pairs[4];
	struct crowd crowd = {pairs, 4};
	net_open(&net);
	open_one_way(&net, pairs);
	for (int i = 0; i < 4; i++) {
		pair_want(&pairs[i], 0, true);
		pair_want(&pairs[i], 1, true);
	}
	assert_true(net_until(&net, 2500, all_settled, &crowd));
	net_elapse(&net, QUIET_MS);
	for (int i = 0; i < 4; i++) {
		assert_true(pair_settled(&pairs[i]));
		assert_int_equal(end_link(&pairs[i].ends[0])->dialled, i < 2);
		assert_int_equal(pairs[i].ends[0].ups + pairs[i].ends[1].ups, 2);
		pair_expect_frames(&pairs[i]);
		pair_close(&pairs[i]);
	}
	net_close(&net);
}

TEST(the_second_waits)
{
	struct pair *pair = pair_alone();
	uint64_t from = uv_now(&pair->net->loop);
	pair_want(pair, 1, true);
	pair_await(pair, HEAD_START_MS + 200, second_dialled);
	assert_true(uv_now(&pair->net->loop) >= from + HEAD_START_MS);
	pair_await(pair, 300, pair_settled);
	pair_expect_clean(pair);
	pair_end(pair);
}

/* The look-up of a name is given up with its dial. */
TEST(a_name)
{
	struct pair *pair = pair_alone();
	char address[SL_ADDRESS_BYTES];
	snprintf(address, sizeof address, "localhost%.64s", strrchr(pair->members[1].address, ':'));
	memcpy(pair->members[1].address, address, sizeof address);
	pair_want(pair, 0, true);
	pair_want(pair, 0, false);
	assert_null(end_dial(&pair->ends[0]));
	net_elapse(pair->net, QUIET_MS);
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, pair_settled);
	pair_end(pair);
}

static bool has_failed(void *argument)
{
	return ((const struct pair *)argument)->ends[0].failed > 0;
}

/* The first address is refused: the second one is tried next. */
TEST(the_second_address)
{
	struct pair *pair = pair_alone();
	char address[SL_ADDRESS_BYTES];
	snprintf(address, sizeof address, "127.0.0.1:1, %.64s", pair->members[1].address);
	memcpy(pair->members[1].address, address, sizeof address);
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, pair_settled);
	assert_true(end_link(&pair->ends[0])->dialled);
	assert_int_equal(pair->ends[0].failed, 1);
	assert_string_equal(pair->ends[0].lost, "127.0.0.1:1");
	pair_end(pair);
}

/* The dialler has no way to addresses of this family. No machine connects to a multicast address. */
TEST(no_route_of_this_family)
{
	struct pair *pair = pair_alone();
	strcpy(pair->members[1].address, "[ff02::1]:7400");
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, has_failed);
	assert_string_equal(pair->ends[0].why, "this machine has no IPv6 route to it; that learner needs an "
					       "IPv4 address in the roster, too");
	pair_end(pair);
}

/* A learner that takes only learners that join turns members away: the other end is told, and goes on
 * dialling. */

static bool first_is_told(void *argument)
{
	return ((struct pair *)argument)->ends[0].failed > 0;
}

TEST(members_are_turned_away_until_they_are_taken)
{
	struct pair *pair = pair_alone();
	pair->ends[1].links->config.joins_only = true;
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, first_is_told);
	assert_string_equal(pair->ends[0].why, SL_LINK_TURNED_AWAY);
	assert_int_equal(pair->ends[0].ups + pair->ends[1].ups, 0);
	sl_links_take_members(pair->ends[1].links, NULL);
	pair_await(pair, WAIT_MS, pair_settled);
	pair_expect_frames(pair);
	pair_end(pair);
}
