/* Links that one end has lost and the other has not, links that one end wants and the other does not. */
#include <stdint.h>
#include <string.h>

#include "test/lib/test.h"
#include "test/net/pair.h"

#define WAIT_MS 15000
#define SILENCE_MS 6000
#define QUIET_MS 200 /* longer than the head start and a pause */

static bool second_is_up(void *argument)
{
	return ((struct pair *)argument)->ends[1].up;
}

/* A link that stands at one end only, with frames on it. */

static void settle_by(struct pair *pair, int dialler)
{
	pair_want(pair, dialler, true);
	pair_await(pair, 2500, pair_settled);
	assert_true(end_link(&pair->ends[dialler])->dialled);
	pair_want(pair, 1 - dialler, true);
	pair_expect_frames(pair);
}

static void send_some(struct pair *pair, int from, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++)
		end_send(&pair->ends[from], 200, k % 2 == 1);
	end_flush(&pair->ends[from]);
}

static bool replaced(void *argument)
{
	const struct pair *pair = argument;
	return pair_settled(argument) && pair->ends[0].ups == 2 && pair->ends[1].ups == 2;
}

/* The end `knows` has lost the link; the other one goes on sending into it until the next link takes its
 * place. */
static void replace(int dialler, int knows, uint32_t silence_ms)
{
	struct pair *pair = pair_alone();
	pair->net->timing.silence = silence_ms;
	pair->net->timing.ping = silence_ms / 3;
	settle_by(pair, dialler);
	send_some(pair, 1 - knows, 10);
	emulator_lose(&pair->emulators[1 - dialler], false);
	send_some(pair, 1 - knows, 10);
	sl_links_drop(pair->ends[knows].links, (uint32_t)(1 - knows), "lost");
	pair_await(pair, WAIT_MS, replaced);
	pair_expect_frames(pair);
	net_elapse(pair->net, QUIET_MS);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pair->ends[i].ups, 2);
		assert_int_equal(pair->ends[i].downs, 1);
		assert_int_equal(pair->ends[i].failed, 0);
	}
	pair_end(pair);
}

TEST(the_first_lost_the_seconds)
{
	replace(1, 0, SILENCE_MS);
}

TEST(the_first_lost_its_own)
{
	replace(0, 0, SILENCE_MS);
}

TEST(the_second_lost_its_own)
{
	replace(1, 1, SILENCE_MS);
}

/* The first's link stays until the first knows: at the latest after the silence, and nothing flaps until
 * then.
 */
TEST(the_second_lost_the_firsts)
{
	replace(0, 1, 600);
}

/* Sooner where the second's host answers: turning its dial away, the first tries its own link before the ping
 * is due. */
TEST(the_second_lost_the_firsts_and_says_so)
{
	struct pair *pair = pair_alone();
	settle_by(pair, 0);
	send_some(pair, 0, 10);
	net_elapse(pair->net, 50);
	emulator_lose(&pair->emulators[1], true);
	sl_links_drop(pair->ends[1].links, 0, "lost");
	pair_await(pair, 1900, replaced);
	pair_end(pair);
}

static bool first_offered(void *argument)
{
	const struct sl_link *dial = end_dial(&((struct pair *)argument)->ends[0]);
	return dial != NULL && dial->state == SL_LINK_OFFERED;
}

/* A cancelled dial may still be under way when the next one has arrived. */
TEST(an_older_link_does_not_come_back)
{
	struct pair *pair = pair_alone();
	pair->emulators[1].pass[THERE] = pair->emulators[1].held = 1;
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, first_offered);
	net_elapse(pair->net, 30);
	pair_want(pair, 0, false);
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, second_is_up);
	emulator_let_pass(&pair->emulators[1]);
	net_elapse(pair->net, 50);
	assert_true(pair_settled(pair));
	assert_int_equal(pair->emulators[1].opened, 2);
	assert_int_equal(pair->ends[0].ups + pair->ends[1].ups, 2);
	assert_int_equal(pair->ends[0].downs + pair->ends[1].downs, 0);
	pair_expect_frames(pair);
	pair_end(pair);
}

/* One end wants the link, the other does not. */

static bool none_left(void *argument)
{
	const struct pair *pair = argument;
	return pair->ends[0].links->all == NULL && pair->ends[1].links->all == NULL;
}

/* The dialler no longer wants its link, the other end does: it dials once and keeps what it has. */
static void hand_over(int dialler)
{
	struct pair *pair = pair_alone();
	settle_by(pair, dialler);
	pair_want(pair, dialler, false);
	pair_await(pair, 2500, replaced);
	pair_want(pair, dialler, false); /* said again, it does not close what the other end dialled */
	net_elapse(pair->net, QUIET_MS);
	assert_true(replaced(pair));
	assert_true(end_link(&pair->ends[1 - dialler])->dialled);
	assert_int_equal(pair->emulators[0].opened, 1);
	assert_int_equal(pair->emulators[1].opened, 1);
	pair_want(pair, 1 - dialler, false);
	pair_await(pair, 1500, none_left);
	pair_end(pair);
}

TEST(the_first_no_longer_wants)
{
	hand_over(0);
}

TEST(the_second_no_longer_wants)
{
	hand_over(1);
}

/* Keys that do not match. */

struct mismatch {
	struct net net;
	struct pair pair;
	struct sl_member members[3];
	struct sl_roster roster;
	struct sl_tls tls;
};

/* The roster of one end has another key for the other end than that one has. */
static void open_mismatch(struct mismatch *m, uint32_t end)
{
	struct sl_error error;
	net_open(&m->net);
	memcpy(m->members, m->net.members, sizeof m->net.members);
	memset(m->members[1 - end].pin, 0, SL_HASH_BYTES);
	m->roster = (struct sl_roster){.members = m->members, .size = 2};
	assert_int_equal(sl_tls_open(&m->tls, &m->net.identities[end], &m->roster, &error), SL_OK);
	pair_open_with(&m->pair, &m->net, end, &m->tls);
}

static void close_mismatch(struct mismatch *m)
{
	assert_int_equal(m->pair.ends[0].ups, 0);
	pair_close(&m->pair);
	sl_tls_close(&m->tls);
	net_close(&m->net);
}

static bool first_has_failed(void *argument)
{
	return ((struct pair *)argument)->ends[0].failed > 0;
}

static bool second_was_refused(void *argument)
{
	return ((struct pair *)argument)->ends[1].refused > 0 && first_has_failed(argument);
}

static bool both_came_again(void *argument)
{
	const struct pair *pair = argument;
	return pair->emulators[0].opened > 1 && pair->emulators[1].opened > 1;
}

/* The dialling end has done its part of the handshake, and yet the link was never up. */
TEST(a_refused_key_is_never_up)
{
	struct mismatch m;
	open_mismatch(&m, 1);
	pair_want(&m.pair, 0, true);
	assert_true(net_until(&m.net, WAIT_MS, second_was_refused, &m.pair));
	assert_non_null(strstr(m.pair.ends[0].why, "refused by the other end"));
	assert_int_equal(m.pair.ends[1].refused, 1);
	assert_int_equal(m.pair.ends[1].expected, -1);
	assert_int_equal(m.pair.ends[1].ups, 0);
	close_mismatch(&m);
}

/* The key answers in place of a member, and it connects: one report. */
TEST(a_wrong_key_is_said_once)
{
	struct mismatch m;
	open_mismatch(&m, 0);
	pair_want(&m.pair, 0, true);
	pair_want(&m.pair, 1, true);
	assert_true(net_until(&m.net, WAIT_MS, both_came_again, &m.pair));
	net_elapse(&m.net, 500);
	assert_int_equal(m.pair.ends[1].ups, 0);
	assert_int_equal(m.pair.ends[0].refused, 1);
	assert_int_equal(m.pair.ends[0].expected, 1);
	close_mismatch(&m);
}

/* A known key, but not that of the dialled member: an address does not identify a learner. */
TEST(another_learners_key_is_never_up)
{
	struct mismatch m;
	open_mismatch(&m, 0);
	memcpy(m.members[2].pin, m.net.members[1].pin, SL_HASH_BYTES);
	m.roster.size = 3;
	pair_want(&m.pair, 0, true);
	assert_true(net_until(&m.net, WAIT_MS, first_has_failed, &m.pair));
	assert_string_equal(m.pair.ends[0].why, "another learner's key");
	assert_int_equal(m.pair.ends[0].refused, 1);
	assert_int_equal(m.pair.ends[0].expected, 1);
	close_mismatch(&m);
}

/* A link that the other end drops as soon as it is up is a failure in the back-off: 25, 50, 100, 200 ms, less
 * a quarter. */
TEST(who_is_dropped_backs_off)
{
	struct pair *pair = pair_alone();
	pair_want(pair, 0, true);
	uint64_t from = uv_now(&pair->net->loop);
	while (pair->ends[0].ups < 5) {
		pair_await(pair, WAIT_MS, pair_settled);
		sl_links_drop(pair->ends[1].links, 0, "dropped");
	}
	assert_true(uv_now(&pair->net->loop) >= from + 375 * 3 / 4);
	assert_int_equal(pair->ends[0].failed, 0);
	pair_end(pair);
}
