/* A learner that has released stays in its attempt until a participant has signed that it never released
 * (PROTOCOL.md §9.4 The safety rule): time, an outsider, and a participant that lost records do not end it.
 */
#include "test/core/driver.h"
#include "test/lib/test.h"

/* A view of 1, 2 and 3; 4 is in the roster and elsewhere. Released, and 3 is lost. */
static struct driver *bound(void)
{
	struct driver *p = driver_ready_without_4();
	play(p, "ready from 2 3\n"
		"durable released\n"
		"link down 3 -> *RECOVER*");
	return p;
}

/* The learner stays for 20 minutes, and goes on after the Abort of a participant. */
static void expect_bound(struct driver *p)
{
	for (int minute = 0; minute < 20; minute++) {
		play(p, "deadline +60000");
		assert_false(driver_says(p, "CLOSED"));
	}
	assert_int_equal(driver_status(p).phase, SL_PHASE_RECOVER);
	assert_int_equal(driver_status(p).a, 1);
	play(p, "abort of 2 a1 from 2\n"
		"deadline +2000 -> CLOSED, *");
	driver_free(p);
}

TEST(by_no_clock)
{
	expect_bound(bound());
}

TEST(by_no_outsider)
{
	struct driver *p = bound();
	play(p, "abort of 4 a1 from 2");
	expect_bound(p);
}

TEST(by_no_peer_that_lost_records)
{
	struct driver *p = bound();
	play(p, "link up 3\n"
		"hello i0 t1 ready from 3 -> *QUARANTINED 3*\n"
		"abort of 3 a1 from 3");
	expect_bound(p);
}
