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

/* --- the tree of the view --- */

/* Learner 1 is the root of the tree: 2 and 3 are its children, 4 is the child of 2, 5 that of 3. All have
 * agreed on the view; 4 and 5 have no edge to 1. */
static struct driver *tree(void)
{
	struct driver *p = driver_new(5, 4);
	p->config.relay_ms = 500;
	p->config.parameters.mixing = SL_ENGINE_FOREST;
	p->analysis.depth = 2;
	p->analysis.trees = 1;
	memcpy(p->analysis.parent, (const uint16_t[]){0, 0, 0, 1, 2}, 5 * sizeof(uint16_t));
	memcpy(p->analysis.keeper, (const uint32_t[]){1, 0, 0, 1, 2}, 5 * sizeof(uint32_t));
	play(p, "link up all\n"
		"hello t1 ready from all\n"
		"trained\n"
		"link state names 1 4 from 2\n"
		"link state a1 from 3\n"
		"link state names 2 from 4\n"
		"link state names 3 from 5\n"
		"analysis done -> *SHARE*");
	return p;
}

/* A record goes along the tree. When no more come, the learner tells what it holds. */
CASE(along_the_tree, tree(),
     "ready of 4 a1 from 2 -> ready of 4 a1 to 3\n"
     "due +500\n"
     "deadline +500 -> hello t1 ready to 2 3 4 5\n"
     "hello t1 ready from 4 5\n"
     "deadline +500 ->\n"
     "ready of 5 a1 from 3 -> ready of 5 a1 to 2")

/* 5 tells something else: it gets all that it may lack, and from then on each record. */
CASE(something_else_is_told, tree(),
     "ready of 4 a1 from 2\n"
     "deadline +500 -> hello t1 ready to 2 3 4 5\n"
     "hello t1 ready from 2 3 4\n"
     "hello t1 ready x1 from 5\n"
     "deadline +500 -> hello t1 ready to 5, link state of 3 a1 to 5, ready of 4 a1 "
     "to 5\n"
     "ready of 2 a1 from 2 -> ready of 2 a1 to 3 5")

/* What was told before does not count: the peer may be slow. After 2 s it does. */
CASE(nothing_is_told, tree(),
     "deadline +100\n"
     "ready of 4 a1 from 2\n"
     "hello t1 ready x1 from 4 5\n"
     "deadline +500 -> hello t1 ready to 2 3 4 5\n"
     "hello t1 ready from 2 3 4\n"
     "deadline +500 ->\n"
     "deadline +1000 ->\n"
     "deadline +500 -> hello t1 ready to 5, *")

/* Without a branch the tree does not bring the records to all. */
CASE(a_branch_falls, tree(),
     "link down 3\n"
     "ready of 4 a1 from 2 -> ready of 4 a1 to 4 5")

/* An Abort of another goes over all links: what learners tell has no Aborts. */
CASE(an_abort_goes_everywhere, tree(), "abort of 4 a1 from 2 -> *denial of 4 a1 to 3 4 5")

/* New records put off to compare, but not for ever: what a peer told before counts then. A record that came
 * after the own telling is not known to a peer that told the same. */
CASE(news_without_end, tree(),
     "hello t1 ready x1 from 5\n"
     "ready of 4 a1 from 2\n"
     "deadline +500 -> hello t1 ready to 2 3 4 5\n"
     "hello t1 ready from 2 3 4\n"
     "deadline +400 ->\n"
     "ready of 2 a1 from 2\n"
     "deadline +100 ->\n"
     "deadline +400 -> hello t1 ready to 2 3 4 5\n"
     "hello t1 ready from 2 3 4\n"
     "deadline +400 ->\n"
     "ready of 5 a1 from 3\n"
     "deadline +100 ->\n"
     "deadline +400 -> hello t1 ready to 2 3 4 5\n"
     "hello t1 ready from 2 3 4\n"
     "deadline +400 ->\n"
     "ready of 3 a1 from 3\n"
     "deadline +100 -> hello t1 ready to 5, *\n"
     "deadline +400 -> hello t1 ready to 2 3 4 5, ready of 3 a1 to 2 5")
