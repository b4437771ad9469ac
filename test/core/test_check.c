/* CHECK: a sum to which others have passed on parts is signed for only when the keepers of all deposits
 * confirm it (ROUND.md §8.7 Checking what was passed on). */
#include "common/core/state.h"
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "test/core/verbs.h"

/* Up to the own Checksum. */
static struct driver *summed(uint32_t learners)
{
	struct driver *p = driver_mix(driver_new(learners, 4));
	play(p, "close done -> challenge of 1 to *\n"
		"challenge from all -> *compute checksum*\n"
		"checksum done -> checksum of 1 to *");
	return p;
}

/* The challenge leaves when the own Z is fixed, and not before. */
CASE(the_challenge_comes_last, driver_mix(driver_new(3, 4)),
     "challenge from 2 -> challenge of 2 to 3\n"
     "close done -> challenge of 1 to 2 3\n"
     "challenge from 2 ->\n"			   /* once is enough */
     "challenge of 3 from 2 -> compute checksum\n" /* by another way */
     "challenge from 3 ->")

CASE(a_false_challenge, driver_mix(driver_new(3, 4)),
     "close done\n"
     "challenge of 3 k9 from 2 -> REJECTED 2: a challenge that its author did not sign for\n"
     "challenge from 2 -> challenge of 2 to 3\n"
     "challenge from 3 -> challenge of 3 to 2, compute checksum")

CASE(all_agree, summed(4),
     "checksum from 2 3 -> checksum of 3 to 2 4\n"
     "checksum of 4 from 2 -> checksum of 4 to 3, CONFIRM, persist signs t1 a1\n"
     "durable signs -> digest to 2 3 4")

#define FALSE "REJECTED 2: a checksum that is not that of the deposit, "

/* An owner that says another checksum than its keepers. Its deposit shows who lies, and the sum is right. */
CASE(an_owner_lies, summed(4),
     "checksum x1 from 2 -> checksum of 2 to 3 4\n"
     "checksum from 3 4 -> *RECOVERING checksum 2, RECOVER, *, compute checksum\n"
     "checksum done -> " FALSE "PENALTY 2, CONFIRM, persist signs t1 a1\n"
     "durable signs -> digest to 2 3 4")

/* Too few participants are left for a commit. So this learner gives up, and does not ask whose Checksum is
 * false. */
TEST(an_owner_lies_without_hope)
{
	struct driver *p = summed(4);
	p->core->view.agreed.forgetful = 1;
	play(p, "checksum x1 from 2\n"
		"abort of 3 g2 a1 from 3\n"
		"abort of 4 g2 a1 from 4\n"
		"checksum from 3 4 -> *persist given up t1 a1*");
	assert_false(driver_says(p, "compute"));
	driver_free(p);
}

/* 3 has given up, and 4 is out of reach: the Digest of this learner might be one too few. It keeps the sum,
 * and signs for it when 4 is back. */
CASE(the_verdict_meets_a_give_up, summed(4),
     "checksum x1 from 2\n"
     "checksum from 3 4\n"
     "link down 4\n"
     "abort of 3 g2 a1 from 3\n"
     "checksum done -> " FALSE "PENALTY 2\n"
     "link up 4 -> *CONFIRM, persist signs t1 a1*")

/* CATCHUP writes over the sum: all deposits are needed then. */
CASE(the_verdict_before_a_catch_up, summed(4),
     "checksum x1 from 2\n"
     "checksum from 3 4\n"
     "link down 4\n"
     "abort of 3 g2 a1 from 3\n"
     "checksum done -> " FALSE "PENALTY 2\n"
     "hello t2 training from 3 -> CATCHUP, *\n"
     "link up 4\n"
     "link down 3 -> RECOVER, *compute sum*")

/* Of two that differ, the first one lies. */
CASE(an_owner_lies_first, driver_mix(driver_new(4, 4)),
     "close done\n"
     "challenge from all\n"
     "checksum x1 from 2\n"
     "checksum done\n"
     "checksum from 3 4 -> *RECOVERING checksum 1 2 3 4, *\n"
     "checksum done -> " FALSE "PENALTY 2, CONFIRM, persist signs t1 a1")

/* Two that lie about their own: one deposit after the other shows it. */
CASE(two_owners_lie, summed(5),
     "checksum x1 from 2 3\n"
     "checksum from 4 5 -> *RECOVERING checksum 2 3, *compute checksum\n"
     "checksum done -> REJECTED 2: *PENALTY 2, *compute checksum\n"
     "checksum done -> REJECTED 3: *PENALTY 3, CONFIRM, persist signs t1 a1")

/* The first word of each counts, and is passed on once. */
CASE(one_checksum_of_each, summed(4),
     "checksum from 2 -> checksum of 2 to 3 4\n"
     "checksum x1 from 2 ->\n"
     "checksum from 3 4 -> *CONFIRM*")

/* On a ring of 1, 2, 4 and 3, up to the own Digest: the Checksum of 2 was false. 4 is not linked. */
static struct driver *judged_on_a_ring(void)
{
	struct driver *p = driver_new(4, 4);
	play(p, "link up 2 3\n"
		"hello t1 ready from 2 3\n"
		"link down 4\n"
		"trained\n"
		"link state names 1 4 from 2 3\n"
		"link state of 4 names 2 3 from 2 -> *compute analysis*\n"
		"analysis done\n"
		"encode done\n"
		"secrets done\n"
		"share done");
	driver_ready_with_2_and_3(p);
	play(p, "ready of 4 from 2\n"
		"check done\n"
		"check done\n"
		"durable released\n"
		"key from 2 3\n"
		"mix done");
	for (uint32_t k = 1; k < p->view->steps; k++)
		play(p, "state 0 k%u from 2 3\nmix done", k);
	play(p, "close done\n"
		"challenge from 2 3\n"
		"challenge of 4 from 2\n"
		"checksum done\n"
		"checksum x1 from 2\n"
		"checksum from 3\n"
		"checksum of 4 from 3 -> *compute checksum\n"
		"checksum done -> " FALSE "PENALTY 2, CONFIRM, persist signs t1 a1\n"
		"durable signs -> digest to 2 3");
	return p;
}

/* The verdict is over when the sum is settled: a learner that recovers once more adds up all deposits. */
CASE(the_verdict_is_over, judged_on_a_ring(),
     "have 1 keys 1 from 2\n"
     "deadline +10000 -> RECOVERING joined 2, RECOVER, *\n"
     "key of 4 from 3\n"
     "have 0 1 2 3 keys 0 1 2 3 from 3 -> request t1 0 of 4 to 3\n"
     "deposit 0 of 4 from 3 -> compute fetch, compute check\n"
     "fetch done\n"
     "check done -> *compute sum\n"
     "sum done -> RECOVERED, CONFIRM, *digest to 2 3")

/* One lies, and the sum is false, too: all deposits are needed. */
TEST(an_owner_and_a_sum_lie)
{
	struct driver *p = driver_mix(driver_new(4, 4));
	p->off = 1;
	play(p, "close done\n"
		"challenge from all\n"
		"checksum done\n"
		"checksum x1 from 2\n"
		"checksum from 3 4 -> *compute checksum\n"
		"checksum done -> " FALSE "PENALTY 2, compute sum\n"
		"sum done -> RECOVERED, CONFIRM, persist signs t1 a1");
	driver_free(p);
}

/* All agree on what goes in, and this learner has another sum. */
TEST(a_sum_lies)
{
	struct driver *p = driver_mix(driver_new(3, 4));
	p->off = 1;
	play(p, "close done\n"
		"challenge from all\n"
		"checksum done\n"
		"checksum from 2 3 -> *RECOVERING checksum, RECOVER*");
	driver_free(p);
}

CASE(checksums_of_another_number, summed(3),
     "checksum size -8 from 2 -> REJECTED 2: checksums of the wrong number\n"
     "checksum from 2 -> checksum of 2 to 3")

CASE(checksums_not_of_the_field, summed(3),
     "checksum x2147483645 from 2 -> REJECTED 2: a checksum that is not of the field\n" /* p */
     "checksum f1 from 2 -> REJECTED 2: a checksum that is not of the field\n"
     "checksum from 2 -> checksum of 2 to 3")

CASE(silence, summed(3),
     "checksum from 2\n"
     "due +10000\n"
     "deadline +10000 -> RECOVERING stalled 3, RECOVER, *")

CASE(a_link_is_lost, summed(3),
     "checksum from 2\n"
     "link down 2 ->\n" /* it has said all */
     "link down 3 -> RECOVERING link 3, RECOVER, *")

/* --- lies among honest learners --- */

static uint32_t spoiled;

/* Spoil the first element of the states of one iteration in the first attempts. */
static bool spoil(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)sim;
	(void)i;
	(void)j;
	if (m->kind == SL_MSG_STATE && m->chunk.iteration == spoiled && m->chunk.a == 1)
		((uint8_t *)(uintptr_t)m->chunk.bytes)[0] ^= 1;
	return true;
}

/* Whatever is passed on, the others commit the sum of what the Readys fix: the checker compares it. */
static void expect_recovery(enum sl_engine mixing, const char *topology, uint32_t iteration)
{
	struct sl_sim_options o = {.seed = 77, .learners = 6, .topology = topology};
	o.parameters.mixing = mixing;
	o.parameters.rounds = 2;
	struct sl_sim *sim = sl_sim_new(&o);
	spoiled = iteration;
	sim->tap = spoil;
	sim->liars = true;
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	uint32_t disputes = 0;
	for (uint32_t i = 0; i < sim->n; i++)
		disputes += sl_sim_count(sim, i, SL_REPORT_RECOVERING, SL_REASON_CHECKSUM, NULL);
	assert_true(disputes > 0);
	sl_sim_free(sim);
}

TEST(partial_sums_that_lie)
{
	expect_recovery(SL_ENGINE_EXACT, "ring", 1);
	expect_recovery(SL_ENGINE_FOREST, "ring", 1);
	expect_recovery(SL_ENGINE_FOREST, "ring", 2);
}
