/* Who has released stays bound until somebody in the view has signed that it never did (PROTOCOL.md §9.4
 * Safety rule): not by time, not by an outsider's word, and not by one who has lost some of its disk. */
#include <string.h>

#include "test/core/driver.h"
#include "test/lib/test.h"

#define LIST(...) ((const sl_id[]){__VA_ARGS__, 0})

static const sl_attempt nothing[] = {0};

/* A view of 1, 2 and 3; 4 is in the roster and elsewhere. Released, and 3 is lost. */
static struct driver *bound(void)
{
	struct driver *p = driver_new(4, 4);
	for (sl_id id = 2; id <= 3; id++) {
		tell_link(p, true, id);
		tell_hello(p, id, 1, SL_PEER_STATUS_READY);
	}
	tell_link(p, false, 4);
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	tell_link_state(p, 2, 2, 1, LIST(1, 3));
	tell_link_state(p, 3, 3, 1, LIST(1, 2));
	tell_done(p, SL_JOB_ANALYSE, SL_OK);
	tell_done(p, SL_JOB_ENCODE, SL_OK);
	tell_done(p, SL_JOB_SHARE, SL_OK);
	for (sl_id id = 2; id <= 3; id++) {
		tell_payload(p, id, SL_MSG_SHARE, 0, 0);
		tell_done(p, SL_JOB_GATHER, SL_OK);
	}
	tell_done(p, SL_JOB_COMMITMENT, SL_OK);
	tell_durable(p, SL_PERSIST_PREPARED);
	tell_ready(p, 2, 2, 1);
	tell_ready(p, 3, 3, 1);
	tell_durable(p, SL_PERSIST_RELEASED);
	assert_non_null(strstr(tell_link(p, false, 3), "RECOVER"));
	return p;
}

static void expect_bound(struct driver *p)
{
	struct sl_core_status status;
	for (int minute = 0; minute < 20; minute++)
		assert_null(strstr(tell_time(p, 60000), "CLOSED"));
	sl_core_status(p->core, &status);
	assert_int_equal(status.phase, SL_PHASE_RECOVER);
	assert_int_equal(status.a, 1);
}

/* Until a participant's Abort is here: then it goes on at once, or when the others have had their moment. */
static void expect_freed(struct driver *p)
{
	bool freed = strstr(tell_abort(p, 2, 2, 1, nothing), "CLOSED") != NULL;
	assert_true(freed || strstr(tell_time(p, 2000), "CLOSED") != NULL);
}

TEST(test_by_no_clock)
{
	struct driver *p = bound();
	expect_bound(p);
	expect_freed(p);
	driver_free(p, 0);
}

TEST(test_by_no_outsider)
{
	struct driver *p = bound();
	tell_abort(p, 2, 4, 1, nothing);
	expect_bound(p);
	expect_freed(p);
	driver_free(p, 0);
}

/* It may have forgotten what it released. */
TEST(test_by_nobody_rolled_back)
{
	struct driver *p = bound();
	struct sl_message hello = {.kind = SL_MSG_HELLO,
				   .hello = {.id = 3, .t = 1, .a = 1, .status = SL_PEER_STATUS_READY}};
	tell_link(p, true, 3);
	assert_non_null(strstr(tell_message(p, 3, &hello), "QUARANTINED 3"));
	tell_abort(p, 3, 3, 1, nothing);
	expect_bound(p);
	expect_freed(p);
	driver_free(p, 0);
}
