/* Addresses found outside the roster: when they are dialled, and how little a false one costs. */
#include <stdio.h>
#include <string.h>

#include "test/lib/test.h"
#include "test/net/pair.h"

#define WAIT_MS 15000
#define NOWHERE "127.0.0.1:1"

/* Open a pair whose roster has a wrong address of the second end; `right`: the right one. */
static struct pair *open_lost(char right[static SL_ADDRESS_BYTES])
{
	struct pair *pair = pair_alone();
	memcpy(right, pair->members[1].address, SL_ADDRESS_BYTES);
	snprintf(pair->members[1].address, SL_ADDRESS_BYTES, NOWHERE);
	return pair;
}

static bool failed_often(void *argument)
{
	return ((struct pair *)argument)->ends[0].failed >= 6;
}

/* After six failed dials the pause is over a second; the hint ends it. */
TEST(a_hint_ends_the_back_off)
{
	char right[SL_ADDRESS_BYTES];
	struct pair *pair = open_lost(right);
	struct sl_links *links = pair->ends[0].links;
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, failed_often);
	assert_true(links->slots[1].retry_at > uv_now(&pair->net->loop) + 500);
	assert_true(sl_links_hint(links, 1, right));
	pair_await(pair, 300, pair_settled);
	assert_true(end_link(&pair->ends[0])->dialled);
	assert_false(sl_links_hint(links, 1, right)); /* not new */
	pair_end(pair);
}

/* A hint that is false delays the address of the roster by one dial at most. */
TEST(the_address_of_the_roster_comes_first)
{
	struct pair *pair = pair_alone();
	char address[SL_ADDRESS_BYTES];
	struct sl_links *links = pair->ends[0].links;
	assert_true(sl_links_hint(links, 1, "127.0.0.1:1, 127.0.0.1:2"));
	sl_links_address(links, 1, address);
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, pair_settled);
	pair_end(pair);
	assert_string_equal(address, pair->members[1].address);
	assert_int_equal(pair->ends[0].failed, 0);
}

TEST(each_hint_has_its_turn)
{
	char right[SL_ADDRESS_BYTES], hints[SL_ADDRESS_BYTES];
	struct pair *pair = open_lost(right);
	struct sl_links *links = pair->ends[0].links;
	snprintf(hints, sizeof hints, "127.0.0.1:2, 127.0.0.1:3, %.64s", right);
	assert_true(sl_links_hint(links, 1, hints));
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, pair_settled);
	assert_false(sl_links_hint(links, 1, "")); /* the link stays */
	net_elapse(pair->net, 50);
	assert_true(pair_settled(pair));
	pair_end(pair);
	assert_int_equal(pair->ends[0].failed, 3);
}

/* A new false address every few milliseconds: only the first one within timing.hint ends the back-off. */
TEST(false_hints_cost_few_dials)
{
	char unused[SL_ADDRESS_BYTES], hint[SL_ADDRESS_BYTES];
	struct pair *pair = open_lost(unused);
	struct sl_links *links = pair->ends[0].links;
	uint64_t begin;
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, failed_often);
	uint32_t before = pair->ends[0].failed;
	begin = uv_now(&pair->net->loop);
	for (uint32_t port = 1; uv_now(&pair->net->loop) < begin + 900; port++) {
		snprintf(hint, sizeof hint, "127.0.0.2:%u", port);
		assert_true(sl_links_hint(links, 1, hint));
		net_turn(pair->net);
	}
	uint32_t dials = pair->ends[0].failed - before;
	pair_end(pair);
	print_message("%u dials in 0.9 s\n", dials);
	assert_in_range(dials, 2, 12);
}
