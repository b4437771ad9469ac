/* A wait ends by what the others do: a participant that hangs, or whose messages take long, is left out after
 * one attempt, and no other learner with it (ROUND.md §7.10 Share, §7.11 Ready). */
#include "common/core/pace.h"
#include "test/core/driver.h"
#include "test/core/verbs.h"
#include "test/lib/test.h"

/* Return the chosen reports of learners other than `of` since `from`, us; named: those of them whose sets
 * name others than `of`. */
static uint32_t count(const struct sl_sim *sim, uint64_t from, uint32_t of, enum sl_report_kind kind,
		      uint32_t *named)
{
	uint32_t found = 0;
	*named = 0;
	for (size_t k = 0; k < sim->note_count; k++) {
		const struct sl_sim_note *note = &sim->notes[k];
		if (note->at < from || note->learner == of || note->report.kind != kind)
			continue;
		found++;
		*named += (note->set & ~(UINT64_C(1) << of)) != 0;
	}
	return found;
}

static struct sl_sim *begin(uint32_t learners, const char *topology, uint64_t sharing, uint64_t n)
{
	struct sl_sim_options o = {.seed = 84,
				   .learners = learners,
				   .topology = topology,
				   .parameters = {.rounds = 20, .sharing = sharing, .n = n}};
	struct sl_sim *sim = sl_sim_new(&o);
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, 2);
	return sim;
}

/* Learner 5 makes no Ready any more. Rounds 3 and 4 together take little longer than one such wait. */
TEST(a_disk_that_hangs_in_ready)
{
	struct sl_sim *sim = begin(5, "complete", SL_SHARING_SHAMIR, 8);
	uint64_t from = sim->now;
	uint32_t named;
	sim->learners[4].stuck = SL_JOB_COMMITMENT;
	sl_sim_run_until_commit(sim, 0, 4);
	assert_in_range((sim->now - from) / 1000, 5000, 9000);
	sl_sim_run_until_commit(sim, 0, 12);
	assert_int_equal(count(sim, from, 4, SL_REPORT_RECOVERING, &named), 4);
	assert_int_equal(count(sim, from, 4, SL_REPORT_PENALTY, &named), 4);
	assert_int_equal(named, 0);
	sl_sim_free(sim);
}

/* From round 3 on, the messages to and from the last learner take `ms`. */
static void expect_lag(const char *topology, uint64_t sharing, uint64_t n, uint32_t ms)
{
	struct sl_sim *sim = begin(9, topology, sharing, n);
	uint64_t from = sim->now;
	uint32_t named;
	for (uint32_t i = 0; i < 8; i++)
		sl_sim_link(sim, i, 8)->lag_ms = sl_sim_link(sim, 8, i)->lag_ms = ms;
	sl_sim_run_until_commit(sim, 0, 6);
	assert_int_not_equal(count(sim, from, 8, SL_REPORT_PENALTY, &named), 0);
	assert_int_equal(named, 0);
	assert_in_range(count(sim, from, 8, SL_REPORT_FAILED, &named) +
				count(sim, from, 8, SL_REPORT_RECOVERING, &named),
			8, 8); /* each has lost one attempt */
	sl_sim_free(sim);
}

/* Those that wait for it lack its shares, and those that wait for them their deposits. */
TEST(one_whose_messages_take_long)
{
	expect_lag("complete", SL_SHARING_SHAMIR, 8, 10000);
	expect_lag("complete", SL_SHARING_SEEDED, 8, 12000);
	expect_lag("regular:4", SL_SHARING_SHAMIR, 8, 10000);
	expect_lag("regular:4", SL_SHARING_SEEDED, 8, 8000);
	expect_lag("regular:4", SL_SHARING_SHAMIR, 7 * SL_CHUNK_ELEMENTS, 10000);
}

/* --- READY --- */

/* Four learners, of which 3 are a quorum; the last Ready of 4 came `ms` after the begin of SHARE. */
static struct driver *ready(sl_ms ms)
{
	struct driver *p = driver_ready(driver_new(4, 4));
	p->core->peers[3].ready_ms = ms;
	return p;
}

#define HANGS "persist aborted t1 a1, RECOVERING stalled 4, *PENALTY 4*"

TEST(half_of_stall_timeout_at_least)
{
	struct driver *p = ready(1000);
	play(p, "due +10000\n" /* a report of the wait */
		"ready from 2 3\ncheck done\ncheck done\n"
		"due +5001\n"
		"deadline +5001 -> " HANGS);
	driver_free(p);
}

TEST(three_times_as_long_as_usual)
{
	struct driver *p = ready(3000);
	play(p, "ready from 2 3\ncheck done\ncheck done\n"
		"due +9000\n"
		"deadline +9000 -> " HANGS);
	driver_free(p);
}

/* 3 is not ready either: one of the two may lack something of the other. */
TEST(two_neighbours)
{
	struct driver *p = ready(1000);
	p->core->peers[2].ready_ms = 1000;
	play(p, "ready from 2\ncheck done\n"
		"deadline +30000 -> WAITING *\n"
		"deadline +30000 -> persist aborted t1 a1, RECOVERING stalled 3 4, *");
	driver_free(p);
}

/* The first attempt with it. */
TEST(not_known)
{
	struct driver *p = ready(0);
	play(p, "ready from 2 3\ncheck done\ncheck done\n"
		"deadline +30000 -> WAITING *\n"
		"deadline +30000 -> " HANGS);
	driver_free(p);
}

TEST(one_that_the_quorum_needs)
{
	struct driver *p = driver_new(4, 4);
	p->config.parameters.quorum = 4;
	driver_ready(p);
	p->core->peers[3].ready_ms = 1000;
	play(p, "ready from 2 3\ncheck done\ncheck done\n"
		"deadline +30000 -> WAITING *\n"
		"deadline +30000 -> persist aborted t1 a1, RECOVERING stalled 4, *");
	driver_free(p);
}

/* --- SHARE --- */

/* All shares of one chunk are here, and the deposits of `from`. */
static struct driver *share(const char *from)
{
	struct driver *p = driver_share(driver_new(4, 4));
	play(p, "key share from all\n"
		"share 0 from all\ngather done\ngather done\ngather done\n"
		"deposit done");
	for (; *from != '\0'; from++)
		play(p, "deposit 0 of %c from %c\nfetch done", *from, *from);
	return p;
}

/* 4 may lack a share of a learner that is slow: it ends the attempt itself then. */
TEST(a_missing_deposit_is_excused)
{
	struct driver *p = share("23");
	play(p, "due +12500\n"
		"deadline +10000 ->\n"
		"abort a1 of 4 from 4 -> *FAILED aborted 4, *");
	assert_false(driver_says(p, "PENALTY"));
	driver_free(p);
	p = share("23");
	play(p, "deadline +12500 -> *FAILED slow 4, *PENALTY 4*");
	driver_free(p);
}

/* The first chunks of shares come after nothing of others. */
TEST(a_missing_share_is_not)
{
	struct driver *p = driver_share(driver_new(4, 4));
	play(p, "key share from all\n"
		"share 0 from 2 3\ngather done\ngather done\n"
		"due +10000\n"
		"deadline +10000 -> *FAILED slow 4, *PENALTY 4*");
	driver_free(p);
}

/* All others are ready, and are about to leave this learner out. It names the neighbour that it waits for
 * before they do. */
TEST(before_the_others_give_up)
{
	struct driver *p = share("23");
	p->core->peers[0].ready_ms = 1000;
	play(p, "ready from 2 3\ncheck done\ncheck done\n"
		"ready from 4\n"
		"due +3751\n"
		"deadline +3751 -> *FAILED slow 4, *PENALTY 4*");
	driver_free(p);
}
