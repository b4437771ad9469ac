/* What is passed on when: whom a signer has named it tells itself, and others only where that was in vain. */
#include <stdio.h>
#include <stdlib.h>

#include "test/core/driver.h"
#include "test/lib/test.h"

#define LIST(...) ((const sl_id[]){__VA_ARGS__, 0})
#define EXPECT(text, trace) assert_string_equal(trace, text)

/* Four learners, linked to this one and trained. */
static struct driver *four(void)
{
	struct driver *p = driver_build(4, 4);
	p->config.relay_ms = 500;
	driver_start(p);
	for (sl_id id = 2; id <= 4; id++) {
		tell_link(p, true, id);
		tell_hello(p, id, 1, SL_PEER_STATUS_READY);
	}
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	return p;
}

TEST(test_left_to_its_signer)
{
	struct driver *p = four();
	EXPECT("link state of 2 a1 from 2 -> link state of 2 a1 to 4",
	       tell_link_state(p, 2, 2, 1, LIST(1, 3)));
	assert_int_equal(sl_core_deadline(p->core), p->now + 500);
	EXPECT("deadline ->", tell_time(p, 499));
	EXPECT("deadline -> link state of 2 a1 to 3", tell_time(p, 1));
	assert_true(sl_core_deadline(p->core) > p->now + 500);
	driver_free(p, 0);
}

TEST(test_not_in_vain)
{
	struct driver *p = four();
	EXPECT("link state of 2 a1 from 2 -> link state of 2 a1 to 4",
	       tell_link_state(p, 2, 2, 1, LIST(1, 3)));
	EXPECT("link state of 2 a1 from 3 ->", tell_link_state(p, 3, 2, 1, LIST(1, 3)));
	EXPECT("deadline ->", tell_time(p, 500));
	driver_free(p, 0);
}

/* Each waits for its own time. */
TEST(test_one_after_the_other)
{
	struct driver *p = four();
	EXPECT("link state of 2 a1 from 2 -> link state of 2 a1 to 4",
	       tell_link_state(p, 2, 2, 1, LIST(1, 3)));
	EXPECT("deadline ->", tell_time(p, 200));
	EXPECT("link state of 3 a1 from 3 ->", tell_link_state(p, 3, 3, 1, LIST(1, 2, 4)));
	EXPECT("deadline -> link state of 2 a1 to 3", tell_time(p, 300));
	assert_int_equal(sl_core_deadline(p->core), p->now + 200);
	EXPECT("deadline -> link state of 3 a1 to 2 4", tell_time(p, 200));
	driver_free(p, 0);
}

TEST(test_readys_too)
{
	struct driver *p = driver_build(3, 4);
	p->config.relay_ms = 500;
	driver_start(p);
	driver_agree(p);
	EXPECT("ready of 2 a1 from 2 ->", tell_ready(p, 2, 2, 1));
	EXPECT("deadline -> link state of 2 a1 to 3, ready of 2 a1 to 3, link state of 3 a1 to 2",
	       tell_time(p, 500));
	driver_free(p, 0);
}

/* It says what is over. */
TEST(test_an_abort_does_not_wait)
{
	struct driver *p = four();
	tell_link_state(p, 2, 2, 1, LIST(1, 3));
	EXPECT("abort of 2 a1 from 2 -> abort of 2 a1 to 3 4",
	       tell_abort(p, 2, 2, 1, (const sl_attempt[]){0}));
	driver_free(p, 0);
}
