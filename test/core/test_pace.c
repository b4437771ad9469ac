/* A neighbour that sends a chunk now and then, so that it never counts as silent, does not hold up the others
 * for ever (ROUND.md §7.10 Share). */
#include <stdio.h>

#include "common/core/pace.h"
#include "common/core/penalty.h"
#include "test/core/driver.h"
#include "test/core/verbs.h"
#include "test/lib/test.h"

#define CHUNKS 20u

/* 2 and 3 send all shares that they may while none of 4 is here. */
static void send_begin(struct driver *p)
{
	play(p, "key share from all\n"
		"share done\n"
		"share done\n"
		"share done");
	for (uint32_t m = 0; m < SL_WINDOW; m++)
		play(p, "share %u from 2 3\ngather done\ngather done", m);
}

/* Four learners, up to there. */
static struct driver *begin(uint64_t quorum)
{
	struct driver *p = driver_new(4, CHUNKS * SL_CHUNK_ELEMENTS - 1);
	p->config.parameters.tolerance = 1;
	p->config.parameters.quorum = quorum;
	p->config.parameters.privacy_check = 1;
	send_begin(driver_share(p));
	return p;
}

/* All shares of chunk m are here: the own deposit goes on, as far as it may without those of the others. */
static void deposit(struct driver *p, uint32_t m)
{
	if (m < SL_DEPOSIT_WINDOW)
		play(p, "deposit done");
}

/* Chunk m of 4 arrives, and the next one that the others may send; they need `ms` for it. */
static void go_on(struct driver *p, uint32_t m, unsigned ms)
{
	play(p, "share %u from 4\ngather done", m);
	deposit(p, m);
	if (m + SL_WINDOW >= CHUNKS)
		return;
	play(p,
	     "share done\n"
	     "deadline +%u ->\n"
	     "share %u from 2 3\ngather done\ngather done",
	     ms, m + SL_WINDOW);
}

/* Each chunk excuses 625 ms. */
TEST(one_chunk_every_9900_ms)
{
	struct driver *p = begin(3);
	play(p, "deadline +9900 ->");
	go_on(p, 0, 0);
	play(p, "due +725\n"
		"deadline +724 ->\n"
		"deadline +1 -> *FAILED slow 4, *PENALTY 4*AGREE, link state of 1 a2 to 2 3*");
	driver_free(p);
}

TEST(one_chunk_every_2000_ms)
{
	struct driver *p = begin(3);
	for (uint32_t m = 0; m < 6; m++) {
		play(p, "deadline +2000 ->");
		go_on(p, m, 0);
	}
	play(p, "deadline +1750 -> *FAILED slow 4*");
	driver_free(p);
}

/* The others need 500 ms, which excuse 1500. */
TEST(slower_than_the_others)
{
	struct driver *p = begin(3);
	play(p, "deadline +9000 ->");
	go_on(p, 0, 500);
	play(p, "deadline +3124 ->\n"
		"deadline +1 -> *FAILED slow 4*");
	driver_free(p);
}

/* 4 has held up all before: that is no time of 2, which does now. */
TEST(another_was_slow_before)
{
	struct driver *p = begin(3);
	play(p, "deadline +9000 ->");
	for (uint32_t m = 0; m < SL_WINDOW; m++) {
		play(p, "share %u from 4\ngather done", m);
		deposit(p, m);
		play(p, "share done");
	}
	for (uint32_t m = SL_WINDOW; m < 2 * SL_WINDOW; m++)
		play(p, "share %u from 3 4\ngather done\ngather done", m);
	play(p, "deadline +9000 ->");
	driver_free(p);
}

/* It needs four times as long as the others, who have as slow links. */
TEST(a_slow_network)
{
	struct driver *p = begin(3);
	for (uint32_t m = 0; m < CHUNKS - SL_WINDOW; m++) {
		play(p, "deadline +9000 ->");
		go_on(p, m, 3000);
	}
	driver_free(p);
}

/* Most neighbours are as slow: none of them is slower than the others. */
TEST(two_of_three)
{
	struct driver *p = driver_share(driver_new(4, CHUNKS * SL_CHUNK_ELEMENTS - 1));
	play(p, "share done\n"
		"share done\n"
		"share done");
	for (uint32_t m = 0; m < SL_WINDOW; m++)
		play(p, "share %u from 2\ngather done", m);
	for (uint32_t m = 0; m < CHUNKS - SL_WINDOW; m++) {
		play(p, "deadline +9900 ->\nshare %u from 3 4\ngather done\ngather done", m);
		deposit(p, m);
		play(p, "share done\nshare %u from 2\ngather done", m + SL_WINDOW);
	}
	driver_free(p);
}

/* Nothing goes on without it: then it is waited for. */
TEST(one_that_the_quorum_needs)
{
	struct driver *p = begin(4);
	for (uint32_t m = 0; m < CHUNKS; m++) {
		play(p, "deadline +9900 ->");
		go_on(p, m, 0);
	}
	driver_free(p);
}

/* It was slow in this round, and there is no view without it: then it is waited for. */
TEST(once_a_round)
{
	struct driver *p = begin(3);
	play(p, "deadline +9900 ->");
	go_on(p, 0, 0);
	play(p, "deadline +725 -> *FAILED slow 4*\n"
		"durable aborted\n"
		"link state a2 names 1 3 from 2\n"
		"link state a2 names 1 2 from 3");
	p->analysis.kappa = 1;
	play(p, "analysis done -> *FAILED tolerance*AGREE, link state of 1 a3 to 2 3 4*\n"
		"link state a3 from all");
	p->analysis.kappa = 2;
	play(p, "analysis done\n"
		"encode done\n"
		"secrets done\n"
		"share done");
	send_begin(p);
	for (uint32_t m = 0; m < 4; m++) {
		play(p, "deadline +9900 ->");
		go_on(p, m, 0);
	}
	driver_free(p);
}

/* Neighbour 2 says first what this learner is about to say: this is no fault of 2. */
TEST(another_is_faster)
{
	struct driver *p = begin(3);
	play(p, "deadline +9900 ->");
	go_on(p, 0, 0);
	play(p, "deadline +100 ->\n"
		"abort a1 of 2 from 2 -> *FAILED aborted 2, *PENALTY 4*");
	driver_free(p);
}

TEST(another_is_much_faster)
{
	struct driver *p = begin(3);
	play(p, "deadline +9000 ->");
	go_on(p, 0, 0);
	play(p, "abort a1 of 2 from 2 -> *FAILED aborted 2*");
	assert_false(driver_says(p, "PENALTY"));
	driver_free(p);
}

/* All shares of ten chunks are here, and eight chunks of the deposits of `ids`. */
static struct driver *begin_deposits(const char *ids)
{
	struct driver *p = driver_new(4, 10 * SL_CHUNK_ELEMENTS - 1);
	p->config.parameters.tolerance = 1;
	p->config.parameters.quorum = 3;
	driver_share(p);
	play(p, "key share from all");
	for (uint32_t m = 0; m < 10; m++) {
		if (m > 0)
			play(p, "share done");
		play(p, "share %u from all\ngather done\ngather done\ngather done", m);
		deposit(p, m);
	}
	for (uint32_t m = 0; m < SL_DEPOSIT_WINDOW; m++)
		for (const char *id = ids; *id != '\0'; id++)
			play(p, "deposit %u of %c from %c\nfetch done", m, *id, *id);
	return p;
}

/* k = 11 */
TEST(a_deposit)
{
	struct driver *p = begin_deposits("23");
	play(p, "deadline +9900 ->\n"
		"deposit 0 of 4 from 4\nfetch done\n"
		"deposit done\n"
		"deposit 8 of 2 from 2\nfetch done\n"
		"deposit 8 of 3 from 3\nfetch done\n"
		"due +6975\n"
		"deadline +6975 -> *FAILED slow 4*");
	driver_free(p);
}

/* Two that are ready will not wait for longer than six times stall_timeout. */
TEST(the_others_are_ready)
{
	struct driver *p = begin_deposits("2");
	play(p, "ready from 2 3");
	for (uint32_t m = 0; m < 3; m++)
		play(p,
		     "deadline +9900 ->\n"
		     "deposit %u of 3 from 3\nfetch done\n"
		     "deposit %u of 4 from 4\nfetch done%s",
		     m, m, m < 2 ? "\ndeposit done" : "");
	play(p, "due +2175\n"
		"deadline +2175 -> *FAILED slow 3 4*");
	driver_free(p);
}

/* SHARE took no time; only the other participants that owe a key are missing. */
CASE(mixing, driver_release(driver_new(4, 4)),
     "key from 2\n"
     "deadline +9900 ->\n"
     "key from 3\n"
     "due +100\n"
     "deadline +100 -> RECOVERING slow 4, *")

/* 4 alone was slow in SHARE: c learners that lie about their pace do not make the others wait for x exchanges
 * at that pace. */
CASE(mixing_beside_a_slow_one, driver_ready(driver_new(4, 4)),
     "ready from 2 3\n"
     "check done\n"
     "check done\n"
     "deadline +3000\n"
     "ready from 4\n"
     "check done\n"
     "durable released\n"
     "key from 2\n"
     "deadline +9900 ->\n"
     "key from 3\n"
     "deadline +9900 ->\n"
     "state 0 k1 from 2\n"
     "due +2200\n"
     "deadline +2200 -> RECOVERING slow 4, *")

/* The third Ready of four has taken 3 s; the last one may lie. */
TEST(the_pace_of_the_honest)
{
	struct driver *p = driver_ready(driver_new(4, 4));
	play(p, "deadline +1000\n"
		"ready from 2\n"
		"deadline +2000\n"
		"ready from 3\n"
		"deadline +2000\n"
		"ready from 4");
	assert_int_equal(p->core->at.most_ready - p->core->at.began, 3000);
	driver_free(p);
}

/* Four learners in MIX. SHARE has taken 5 s. */
static struct driver *mixing_after_5_s(uint64_t exchanges)
{
	struct driver *p = driver_release(driver_new(4, 4));
	p->core->view.steps = exchanges;
	p->core->at.began = 0;
	p->core->at.most_ready = p->core->at.released_at = 5000;
	p->core->out = &p->actions;
	return p;
}

/* The pace of SHARE is waited for, but no more than 16 times what is at stake. */
TEST(exchanges_at_the_pace_of_share)
{
	for (uint64_t exchanges = 1; exchanges <= 250; exchanges += 249) {
		struct driver *p = mixing_after_5_s(exchanges);
		assert_int_equal(sl_pace_mixed(p->core),
				 5000 + 10000 + 4 * 5000 + (exchanges == 1 ? 2 * 5000 : 16 * 15000));
		driver_free(p);
	}
}

/* Return the points of 4, for `reason`, when half of that time is over. */
static uint32_t points_of_slow_exchanges(uint64_t exchanges, enum sl_reason reason)
{
	struct driver *p = mixing_after_5_s(exchanges);
	uint64_t only = 1 << 3;
	p->core->now = 5000 + 8 * 15000;
	sl_penalty_failed(p->core, &only, reason);
	uint32_t points = p->core->peers[3].penalty.points;
	driver_free(p);
	return points;
}

/* After 250 slow exchanges a learner gets no point, neither for them nor for ending the attempt. */
TEST(slow_exchanges)
{
	assert_int_equal(points_of_slow_exchanges(1, SL_REASON_SLOW), 1);
	assert_int_equal(points_of_slow_exchanges(250, SL_REASON_SLOW), 0);
	assert_int_equal(points_of_slow_exchanges(1, SL_REASON_JOINED), 1);
	assert_int_equal(points_of_slow_exchanges(250, SL_REASON_JOINED), 0);
}

static struct sl_sim *ring_with_a_link_of(uint32_t ms, uint64_t exchanges)
{
	struct sl_sim_options o = {.seed = 700, .learners = 7, .topology = "ring"};
	o.parameters.mixing = SL_ENGINE_METROPOLIS;
	o.parameters.k = exchanges;
	o.parameters.rounds = 4;
	struct sl_sim *sim = sl_sim_new(&o);
	sl_sim_link(sim, 0, 1)->slow_ms = sl_sim_link(sim, 1, 0)->slow_ms = ms;
	sl_sim_start(sim);
	return sim;
}

/* A link of a second among fast ones paces all exchanges of metropolis. Its two ends show it in SHARE. */
TEST(mixing_over_a_slow_link)
{
	struct sl_sim *sim = ring_with_a_link_of(1000, 0);
	sl_sim_run_until_round(sim, 2);
	for (uint32_t i = 0; i < 7; i++)
		for (enum sl_reason reason = SL_REASON_NONE + 1; reason <= SL_REASON_MEMORY; reason++)
			sl_sim_expect_none(sim, i, SL_REPORT_RECOVERING, reason);
	sl_sim_free(sim);
}

/* At five seconds an exchange, 250 of them are not waited for, but 33 times stall_timeout. */
TEST(mixing_over_a_link_that_is_too_slow)
{
	struct sl_sim *sim = ring_with_a_link_of(5000, 250);
	sl_sim_run_until_round(sim, 1);
	assert_in_range(sim->now / 1000000, 250, 400);
	sl_sim_free(sim);
}

/* All links are slow: each learner is as quick in MIX as in SHARE, and none is left out. */
TEST(mixing_over_slow_links)
{
	struct sl_sim *sim = ring_with_a_link_of(2000, 250);
	for (uint32_t i = 0; i < sim->n * sim->n; i++)
		sim->links[i].slow_ms = 2000;
	sl_sim_run_until_round(sim, 4);
	uint32_t slow = 0;
	for (uint32_t i = 0; i < sim->n; i++) {
		slow += sl_sim_count(sim, i, SL_REPORT_RECOVERING, SL_REASON_SLOW, NULL);
		sl_sim_expect_none(sim, i, SL_REPORT_PENALTY, SL_REASON_NONE);
	}
	assert_in_range(slow, 1, UINT32_MAX);
	sl_sim_free(sim);
}
