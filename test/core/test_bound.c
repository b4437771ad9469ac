/* A learner that has released stays in its attempt until that is over (ROUND.md §9.2 When an attempt is
 * over, §9.3 Rule A): time, an outsider, one Abort, and an Abort that denies a Ready do not end it.
 */
#include "common/core/state.h"
#include "test/core/driver.h"
#include "test/lib/test.h"

/* A view of 1, 2 and 3; 4 is in the roster and elsewhere. Released, and 3 is lost. */
static struct driver *bound(void)
{
	struct driver *p = driver_release_without_4();
	play(p, "link down 3 -> *RECOVER*");
	return p;
}

/* The learner stays for 20 minutes. */
static void expect_open(struct driver *p)
{
	for (int minute = 0; minute < 20; minute++) {
		play(p, "deadline +60000");
		assert_false(driver_says(p, "OVER"));
	}
	assert_int_equal(driver_status(p).phase, SL_PHASE_RECOVER);
	assert_int_equal(driver_status(p).a, 1);
}

/* And it goes on after the Aborts of 2 and of a holder of its key. */
static void expect_bound(struct driver *p)
{
	expect_open(p);
	play(p, "abort of 2 r1 a1 from 2\n"
		"abort of 3 r1 a1 from 2\n"
		"deadline +2000 -> OVER, *");
	driver_free(p);
}

TEST(by_no_clock)
{
	expect_bound(bound());
}

TEST(by_no_outsider)
{
	struct driver *p = bound();
	play(p, "abort of 4 a1 from 2\n"
		"abort of 4 g2 a1 from 2");
	expect_bound(p);
}

TEST(by_no_single_participant)
{
	struct driver *p = bound();
	play(p, "abort of 3 r1 a1 from 2");
	expect_bound(p);
}

TEST(by_no_denial_of_a_ready)
{
	struct driver *p = bound();
	play(p, "abort of 3 a1 from 2");
	expect_open(p);
	driver_free(p);
}

/* Aborts of later attempts take no room from those of the present one. */
TEST(by_aborts_of_later_attempts)
{
	struct driver *p = driver_ready(driver_new(3, 4));
	play(p, "link state of 2 a20 names 1 3 from 2");
	for (unsigned a = 2; a <= 1 + SL_OVERS_MAX; a++)
		play(p, "abort of 2 a%u from 2", a);
	play(p, "link down 3\n"
		"deadline +600000 -> *persist aborted t1 a1*\n"
		"durable aborted -> *abort of 1 a1*\n"
		"abort of 2 a1 from 2\n"
		"deadline +600000 -> OVER*");
	driver_free(p);
}

/* Nor from those of earlier attempts, in which others may be open. */
TEST(earlier_attempts_keep_their_aborts)
{
	struct driver *p = driver_new(4, 4);
	play(p, "link up 2 3\n"
		"link state a2 names 1 3 from 2\n"
		"hello t1 ready from 2 3\n"
		"link down 4\n"
		"trained\n"
		"link state a2 names 1 2 from 3 -> *compute analysis*\n"
		"abort of 2 a1 from 2\n"
		"link state of 4 a30 names 2 from 2");
	for (unsigned a = 3; a <= 30; a++)
		play(p, "abort of 4 a%u from 2", a);
	play(p, "hello t1 a1 open from 3 -> denial of 2 a1 to 3");
	driver_free(p);
}

/* A Ready that was sent is not denied after its attempt, to one that is still open in it. */
TEST(no_denial_after_the_end)
{
	struct driver *p = driver_release(driver_new(4, 4));
	play(p, "link down 4 -> *RECOVER*\n"
		"abort of 2 g2 a1 from 2\n"
		"abort of 3 g2 a1 from 3\n"
		"deadline +2000 -> OVER, *\n"
		"durable over\n"
		"hello t1 ready from 2 3\n"
		"trained -> *link state of 1 a2*\n"
		"link up 4\n"
		"ready of 4 a1 from 4\n"
		"hello t1 a1 open from 4 -> give-up of 2 a1 to 4, give-up of 3 a1 to 4");
	driver_free(p);
}

/* The second attempt of a round that is over pauses: the same participant may be the cause again. */
TEST(a_pause_after_the_second_end)
{
	for (uint32_t over = 0; over <= 1; over++) {
		struct driver *p = driver_ready(driver_new(4, 4));
		p->core->over = over;
		play(p, "abort of 4 a1 from 4\n"
			"durable aborted\n"
			"deadline +2000 -> OVER, *");
		assert_int_equal(p->core->not_before > p->now, over);
		driver_free(p);
	}
}

/* --- stuck --- */

/* In a round in which this learner was not started: each attempt is then known. */
static struct driver *in_the_second_attempt(void)
{
	struct driver *p = driver_new(4, 4);
	p->config.parameters.rounds = 2;
	driver_commit(p);
	play(p, "link down 4\n"
		"trained\n"
		"hello t2 ready from 2 3 -> *AGREE, link state of 1 a1 to 2 3\n"
		"link down 3 -> FAILED link 3, *\n"
		"link up 3 -> *\n"
		"ready of 4 t2 a1 from 2 -> ready of 4 a1 to 3");
	return p;
}

/* Learner 4 is open in an earlier attempt and has no link to this learner: its word reaches it over others.
 */
CASE(stuck_without_a_link, in_the_second_attempt(),
     "abort of 4 r1 t2 a1 from 2 -> abort of 4 a1 to 3\n" /* it may end without this one */
     "abort of 4 g5 t2 a1 from 2 -> persist aborted t2 a1, abort stuck of 4 a1 to 3\n"
     "durable aborted -> denial of 1 a1 to 2 3")

/* The flood goes on with the latest Abort of a signer; an earlier one goes its way for those that are stuck.
 */
CASE(earlier_aborts_for_the_stuck, in_the_second_attempt(),
     "abort of 2 t2 a2 from 2 -> *denial of 2 a2 to 3*\n"
     "abort of 2 t2 a1 from 2 ->\n"
     "abort of 4 g4 t2 a1 from 2 -> *stuck of 4 a1 to 3*\n"
     "abort of 3 t2 a2 from 3 -> *denial of 3 a2 to 2*\n"
     "abort of 3 t2 a1 from 3 -> denial of 3 a1 to 2\n"
     "abort of 3 t2 a1 from 3 ->")

/* A learner without progress says so; it gives up when as many participants say so as a commit needs, and
 * nothing comes for stall_timeout more. */
CASE(stuck_together, bound(),
     "deadline +10000\n"
     "abort of 4 g4 a1 from 2\n" /* no participant */
     "deadline +20000 -> WAITING 2 3, stuck of 1 a1 to 2 4\n"
     "deadline +60000 -> WAITING 2 3\n"
     "abort of 2 g4 a1 from 2 -> stuck of 2 a1 to 4\n"
     "deadline +9999\n"
     "deadline +1 -> *persist given up t1 a1*")
CASE(stuck_is_no_progress, bound(),
     "deadline +10000\n"
     "deadline +10000\n"
     "abort of 2 g4 a1 from 2\n"
     "deadline +9999 ->\n"
     "deadline +1 -> WAITING 2 3, stuck of 1 a1 to 2 4\n"
     "abort of 3 g4 a1 from 2 -> stuck of 3 a1 to 4\n"
     "deadline +10000 -> *persist given up t1 a1*")
/* One that gives up has waited for that time; and it takes nothing back. */
CASE(stuck_and_one_gives_up, bound(),
     "deadline +10000\n"
     "deadline +10000\n"
     "abort of 3 g2 a1 from 2\n"
     "abort of 3 g4 a1 from 2\n"
     "deadline +9999 ->\n"
     "deadline +1 -> persist given up t1 a1, *")
/* A participant that aborted without a Ready is in RECOVER no more, and does not say that it is stuck. Here 3
 * is gone, and with `forgetful` 1 the word of 4 alone does not end the attempt. */
TEST(stuck_beside_one_that_aborted)
{
	struct driver *p = driver_ready(driver_new(4, 4));
	p->core->view.agreed.forgetful = 1;
	play(p, "ready from 2 3\n"
		"abort of 4 a1 from 4 -> persist aborted t1 a1, RECOVERING aborted 4, RECOVER, *\n"
		"durable aborted -> *\n"
		"deadline +20000 -> *stuck of 1 a1 to 2 3 4\n"
		"deadline +10000");
	assert_false(driver_says(p, "given up"));
	play(p, "abort of 2 g4 a1 from 2\n"
		"deadline +10000 -> *persist given up t1 a1*");
	driver_free(p);
}

TEST(stuck_before_the_last_news)
{
	struct driver *p = bound();
	play(p, "deadline +10000\n"
		"deadline +20000 -> *stuck of 1 a1 to 2 4\n"
		"abort of 2 g4 a1 from 2\n"
		"abort of 3 r1 a1 from 2\n" /* news */
		"deadline +19999");
	assert_false(driver_says(p, "given up"));
	play(p, "deadline +1");
	assert_false(driver_says(p, "given up"));
	play(p, "deadline +10000 -> *persist given up t1 a1*");
	driver_free(p);
}

/* A learner that has signed a Digest does not say that it is stuck, does not give up, and does not wake up
 * for it again and again. */
TEST(stuck_after_the_digest)
{
	struct driver *p = bound();
	p->core->at.digested = true;
	play(p, "deadline +10000\n"
		"deadline +20000 -> WAITING 2 3\n"
		"abort of 2 g4 a1 from 2\n"
		"abort of 3 g4 a1 from 2\n"
		"deadline +10000\n"
		"due +10000");
	assert_false(driver_says(p, "given up"));
	driver_free(p);
}

/* Those that are stuck give up if they are enough to end the attempt: else one that has signed a Digest and
 * is lost would hold it open for ever, and all learners with it. */
TEST(stuck_beside_signers)
{
	struct driver *p = driver_ready(driver_new(4, 4));
	p->core->view.agreed.forgetful = 1; /* three give-ups end the attempt */
	play(p, "ready from 2 3\n"
		"abort of 4 r1 a1 from 4 -> persist aborted t1 a1, RECOVERING aborted 4, RECOVER, *\n"
		"durable aborted -> *\n"
		"digest from 3\n"
		"deadline +20000 -> *stuck of 1 a1 to 2 3 4\n"
		"abort of 2 g4 a1 from 2\n"
		"deadline +10000");
	assert_false(driver_says(p, "given up"));
	play(p, "abort of 4 r1 g4 a1 from 4\n"
		"deadline +10000 -> *persist given up t1 a1*");
	driver_free(p);
}

/* With `forgetful` 1, one give-up of three leaves too few for a commit, and does not end the attempt. A
 * Digest that is signed then would hold it open for ever. */
TEST(too_few_are_left)
{
	struct driver *p = bound();
	p->core->view.agreed.forgetful = 1;
	play(p, "abort of 2 g2 a1 from 2 -> *persist given up t1 a1*\n"
		"durable aborted -> give-up of 1 a1 to 2 4");
	assert_false(driver_says(p, "OVER"));
	play(p, "deadline +2000 -> OVER, *");
	driver_free(p);
}

/* --- participants with other Readys --- */

/* A participant has signed two Readys, and each half of the others holds one of them: as soon as both are
 * seen, the attempt is given up. A peer that only says so holds it up once, for stall_timeout; so does one
 * that shows a second Ready of its own.
 */
#define OTHERS                                                                                               \
	"REJECTED 2: says that it holds other Readys of the attempt: a participant has signed two, or this " \
	"is false, "
#define SHOWN "ready of 1 a1 to 2, ready of 2 a1 to 2, ready of 3 a1 to 2\n"

CASE(other_readys_before_the_release, driver_ready(driver_new(3, 4)),
     "ready from 2\n"
     "check done\n"
     "key s1 from 2 ->\n" /* the own ones are not complete */
     "ready from 3\n"
     "check done -> " OTHERS "persist aborted t1 a1, RECOVERING readys differ 2, RECOVER, *" SHOWN)
CASE(other_readys_in_mix, driver_release(driver_new(3, 4)),
     "key s1 from 2 -> " OTHERS "RECOVERING readys differ 2, RECOVER, *" SHOWN)
CASE(other_readys_in_check, driver_mix(driver_new(3, 4)),
     "key s1 from 2 -> " OTHERS "RECOVERING readys differ 2, RECOVER, *" SHOWN)
CASE(other_readys_in_recover, bound(), "key s1 from 2 -> " OTHERS "have 0 1 2 keys 0 1 to 2, " SHOWN)
CASE(other_readys_after_the_digest, driver_confirm(driver_new(3, 4)), "key s1 from 2 -> " OTHERS SHOWN)
CASE(two_readys, driver_mix(driver_new(3, 4)),
     "key s1 from 2 -> *RECOVER*\n"
     "ready of 3 k4 from 2 -> EVIDENCE 3, ready of 3 a1 to 2, ready of 3 a1 to 2, persist given up t1 a1\n"
     "ready of 2 k4 from 3 -> EVIDENCE 2\n" /* shown once */
     "deadline +10000")
CASE(two_readys_before_the_release, driver_ready(driver_new(3, 4)),
     "ready from 2\n"
     "check done\n"
     "ready of 2 k4 from 3 -> EVIDENCE 2, ready of 2 a1 to 3, ready of 2 a1 to 3\n"
     "ready from 3\n"
     "check done -> *RECOVERING readys differ 2, *\n"
     "key s1 from 3 -> *persist given up t1 a1*")

/* 2 shows a second Ready of its own, and says that it holds others; later, 3 gives up: it may hold one, too.
 */
TEST(two_readys_of_one_that_shows_them)
{
	struct driver *p = driver_mix(driver_new(3, 4));
	play(p, "key s1 from 2 -> *RECOVER*\n"
		"ready of 2 k4 from 2 -> EVIDENCE 2, ready of 2 a1 to 3, ready of 2 a1 to 3\n"
		"deadline +9999");
	assert_false(driver_says(p, "given up"));
	play(p, "abort of 3 g2 a1 from 3 -> *persist given up t1 a1*");
	driver_free(p);
}
TEST(claim_of_other_readys)
{
	struct driver *p = driver_mix(driver_new(3, 4));
	play(p, "key s1 from 2 -> *RECOVER*\n"
		"deadline +9999");
	assert_false(driver_says(p, "sum"));
	play(p, "deadline +1 -> *sum*\n"
		"key s2 from 2 -> *\n" /* another claim does not hold it up again */
		"sum done -> *CONFIRM, *");
	driver_free(p);
}
