/* When a record is forwarded: its signer sends it to its candidates itself, and others only after relay_ms
 * (ROUND.md §7.6 Link states and the flood). */
#include "test/core/driver.h"
#include "test/lib/test.h"

/* Four learners, linked to this one and ready. */
static struct driver *four(void)
{
	struct driver *p = driver_new(4, 4);
	p->config.relay_ms = 500;
	play(p, "link up all\n"
		"hello t1 ready from all\n"
		"trained");
	return p;
}

CASE(left_to_its_signer, four(),
     "link state names 1 3 from 2 -> link state of 2 a1 to 4\n"
     "due +500\n"
     "deadline +499 ->\n"
     "deadline +1 -> link state of 2 a1 to 3\n"
     "due +69500") /* no record waits: the link states that are missing */

CASE(not_sent_back, four(),
     "link state names 1 3 from 2 -> link state of 2 a1 to 4\n"
     "link state of 2 names 1 3 from 3 ->\n"
     "deadline +500 ->")

/* Each record has its own delay. */
CASE(one_after_the_other, four(),
     "link state names 1 3 from 2 -> link state of 2 a1 to 4\n"
     "deadline +200 ->\n"
     "link state from 3 ->\n"
     "deadline +300 -> link state of 2 a1 to 3\n"
     "due +200\n"
     "deadline +200 -> link state of 3 a1 to 2 4")

/* Copies of a record that have arrived already are seen before it is passed on. */
TEST(after_the_last_event)
{
	struct driver *p = four();
	p->more = true;
	play(p, "link state names 1 from 2 ->\n"
		"due +0");
	p->more = false;
	play(p, "link state of 2 names 1 from 4 -> link state of 2 a1 to 3");
	driver_free(p);
}

TEST(readys_too)
{
	struct driver *p = driver_new(3, 4);
	p->config.relay_ms = 500;
	driver_agree(p);
	play(p, "ready of 2 a1 from 2 ->\n"
		"deadline +500 -> link state of 2 a1 to 3, ready of 2 a1 to 3, link state of 3 a1 to 2");
	driver_free(p);
}

CASE(an_abort_does_not_wait, four(),
     "link state names 1 3 from 2\n"
     "abort of 2 a1 from 2 -> denial of 2 a1 to 3 4")
