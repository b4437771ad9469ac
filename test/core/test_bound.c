/* A learner that has released stays in its attempt until that is over (PROTOCOL.md §9.2 When an attempt is
 * over, §9.3 Rule A): time, an outsider, one Abort, and an Abort that denies a Ready do not end it.
 */
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
		"abort of 4 g1 a1 from 2");
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

/* --- stuck --- */

/* A learner without progress says so; it gives up when as many participants say so as a commit needs. */
CASE(stuck_together, bound(),
     "deadline +10000\n"
     "abort of 4 g2 a1 from 2\n" /* no participant */
     "deadline +20000 -> WAITING 2 3, stuck of 1 a1 to 2 4\n"
     "deadline +60000 -> WAITING 2 3\n"
     "abort of 2 g2 a1 from 2 -> persist given up t1 a1*")
CASE(stuck_is_no_progress, bound(),
     "deadline +10000\n"
     "deadline +10000\n"
     "abort of 2 g2 a1 from 2\n"
     "deadline +9999 ->\n"
     "deadline +1 -> persist given up t1 a1, *")
