/* Where the processes of a peer are: what is told of it, and when two of them are reported (LINKS.md §6.2
 * Links). */
#include <stdio.h>
#include <string.h>

#include "common/base/bytes.h"
#include "test/lib/test.h"
#include "test/net/pair.h"

#define KNOWN_MS 300 /* after which two that are still seen both run */
#define OTHER 222u   /* start of another process */

static uint32_t reports;
static char told[SL_PLACES_BYTES];

static void on_two_places(void *context, uint32_t peer, const char *places)
{
	(void)context;
	assert_int_equal(peer, 1);
	reports++;
	snprintf(told, sizeof told, "%s", places);
}

static struct pair *settled(void)
{
	struct pair *pair = pair_alone();
	pair_want(pair, 0, true);
	pair_await(pair, 15000, pair_settled);
	reports = 0;
	pair->ends[0].links->config.handler.two_places = on_two_places;
	pair->net->timing.handshake = KNOWN_MS;
	return pair;
}

/* The other end tells where a process of the member `id` is. */
static void tell(const struct pair *pair, sl_id id, uint64_t start, const char *address)
{
	uint8_t payload[128];
	struct sl_writer w = {.bytes = payload, .size = sizeof payload};
	sl_bytes_put_u32(&w, id);
	sl_bytes_put_u64(&w, start);
	sl_bytes_put(&w, (const uint8_t *)address, strlen(address));
	sl_links_place((struct sl_link *)(uintptr_t)end_link(&pair->ends[0]), payload, 12 + strlen(address));
}

static void let_tell(struct pair *pair)
{
	for (int k = 0; k < 2; k++)
		pair->ends[0].links->slots[1].places[k].told = 0;
	net_elapse(pair->net, 50);
}

/* The other end tells twice of another process of the member whose id is returned. */
static sl_id tell_of_another(struct pair *pair)
{
	sl_id id = pair->roster.members[1].id;
	tell(pair, id, OTHER, "10.0.0.7 port 7");
	let_tell(pair);
	tell(pair, id, OTHER, "10.0.0.7 port 7");
	return id;
}

/* A process that is seen no more after another one has taken its place has ended. */
TEST(both_are_seen_after_both_are_known)
{
	struct pair *pair = settled();
	sl_id id = tell_of_another(pair);
	assert_int_equal(reports, 0);
	net_elapse(pair->net, KNOWN_MS);
	let_tell(pair); /* of the one that is linked */
	assert_int_equal(reports, 0);
	tell(pair, id, OTHER, "10.0.0.7 port 7");
	assert_int_equal(reports, 1);
	assert_non_null(strstr(told, "10.0.0.7 port 7"));
	assert_non_null(strstr(told, "127.0.0.1 port "));
	pair_end(pair);
}

/* A third one neither takes the place of one that runs, nor is passed on: it would be news each time. */
TEST(a_third_process_takes_the_place_of_one_that_has_ended)
{
	struct pair *pair = settled();
	struct sl_links *links = pair->ends[0].links;
	pair->net->timing.handshake = 1000000;
	sl_id id = tell_of_another(pair);
	links->told = 0;
	for (int k = 0; k < 5; k++) {
		tell(pair, id, OTHER + 1, "10.0.0.8 port 8");
		tell(pair, id, OTHER, "10.0.0.7 port 7");
	}
	assert_int_equal(links->told, 0);
	for (int k = 0; k < 2; k++)
		assert_string_not_equal(links->slots[1].places[k].address, "10.0.0.8 port 8");
	pair->net->timing.handshake = 0;
	tell(pair, id, OTHER + 1, "10.0.0.8 port 8");
	assert_int_equal(links->told, 1);
	pair_end(pair);
}

/* With 100 links and more, it is frames that are counted. */
TEST(many_links_make_few_places)
{
	struct pair *pair = settled();
	struct sl_links *links = pair->ends[0].links;
	pair->net->timing.handshake = 0; /* each may take the place of another */
	links->figures.up = 1000;
	links->told = 0;
	links->told_since = uv_now(&pair->net->loop);
	for (uint64_t k = 0; k < 20; k++)
		tell(pair, pair->roster.members[1].id, OTHER + k, "10.0.0.7 port 7");
	assert_int_equal(links->told, 2);
	links->figures.up = 1;
	pair_end(pair);
}

TEST(what_a_liar_tells_is_bounded)
{
	struct pair *pair = settled();
	struct sl_links *links = pair->ends[0].links;
	sl_id id = pair->roster.members[1].id;
	pair->net->timing.handshake = 0;
	tell(pair, id + 1000, OTHER, "10.0.0.7 port 7");
	tell(pair, id, OTHER, "");
	tell(pair, id, OTHER, "1234567890123456789012345678901234567890123456789012345678901");
	assert_int_equal(links->slots[1].places[0].start, 0);
	for (uint64_t k = 0; k < 1000; k++)
		tell(pair, id, OTHER + k, "\033[31m");
	assert_true(links->told <= 20);
	assert_string_equal(links->slots[1].places[0].address, "?[31m");
	pair_end(pair);
}
