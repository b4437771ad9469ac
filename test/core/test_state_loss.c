/* Disks that forget (GROUP.md §12.4): a learner reminds its peers of their own records, and abstains when
 * it is reminded of what it does not know. */
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "test/core/verbs.h"

/* Of five learners, a quorum of three. */
static struct driver *five(void)
{
	return driver_new(5, 4);
}

/* Restarted in a round, with nothing on its disk. */
static struct driver *emptied(void)
{
	struct driver *p = five();
	play(p, "start\n"
		"link up 2 3 4 5");
	return p;
}

/* The peer's own records come before the Hello. */
CASE(reminds, driver_ready(driver_new(3, 4)),
     "ready from 2\n"
     "check done\n"
     "abort of 3 r1 from 3\n"
     "link down 2\n"
     "link up 2 -> link state of 2 a1 to 2, ready of 2 a1 to 2, hello t1 open to 2, *")

/* A key that others know cannot be held back. */
CASE(reminds_of_the_key, driver_release(driver_new(3, 4)),
     "key from 2\n"
     "link down 3\n"
     "link down 2\n"
     "link up 2 -> link state of 2 a1 to 2, ready of 2 a1 to 2, key of 2 to 2, hello t1 open to 2, *")

CASE(forgot_a_ready, emptied(),
     "ready of 1 a1 from 2 -> ABSTAINS 2, hello t1 abstains to 2 3 4 5\n"
     "hello t1 ready from 2 3 4 5 ->\n"
     "trained -> DISCOVER, links 2 3 4 5, hello t1 abstains to 2 3 4 5\n"
     "deadline +60000 ->\n"
     "hello t2 training from 3 -> CATCHUP, request t0 0 to 3")

CASE(forgot_an_abort, emptied(), "abort of 1 a1 from 2 -> ABSTAINS 2, *")
/* .. of a round to come, though the own one of this round has the same attempt number. */
TEST(forgot_an_abort_of_a_later_round)
{
	struct driver *p = five();
	p->config.aborted = 1;
	play(p, "start\n"
		"link up 2\n"
		"abort of 1 a1 from 2 ->\n"
		"abort of 1 t2 a1 from 2 -> ABSTAINS 2, *");
	driver_free(p);
}

CASE(forgot_a_give_up, emptied(), "abort of 1 g2 a1 from 2 -> ABSTAINS 2, *")
CASE(forgot_a_link_state, emptied(),
     "link state of 1 i2 from 2 -> ABSTAINS 2, *\n" /* of a later incarnation */
     "link state of 1 i3 from 2 ->")
CASE(a_link_state_of_an_earlier_start, emptied(), "link state of 1 i0 from 2 ->")

/* Where no round commits without this learner, a link state that it forgot does no harm. */
TEST(forgot_a_link_state_of_all)
{
	struct driver *p = five();
	p->config.parameters.quorum = 5;
	play(p, "start\n"
		"link up 2\n"
		"link state of 1 i2 from 2 ->\n"
		"ready of 1 a1 from 2 -> ABSTAINS 2, *");
	driver_free(p);
}

/* What is on the disk is known. */
CASE(nothing_forgotten, driver_ready(driver_new(5, 4)),
     "ready of 1 a1 from 2 ->\n"
     "link state of 1 a1 from 2 ->\n"
     "ready of 1 a2 from 2 -> ABSTAINS 2, *")

/* The operator takes the risk. */
CASE(cleared, emptied(),
     "operator abort -> invalid\n"
     "ready of 1 a1 from 2 -> ABSTAINS 2, *\n"
     "operator abort -> hello t1 training to 2 3 4 5\n"
     "ready of 1 a1 from 3 ->\n"
     "ready of 2 a1 from 2 -> ready of 2 a1 to 3 4 5") /* and it does not deny its own */

/* A peer that abstains is not waited for. */
CASE(not_waited_for, driver_new(3, 4),
     "link up 2 3\n"
     "hello t1 ready from 2\n"
     "hello t1 abstains from 3\n"
     "trained -> DISCOVER, links 2 3, hello t1 ready to 2 3, AGREE, link state of 1 a1 to 2 3")

/* A learner whose folder is emptied after its Ready comes back, abstains, catches up and takes part again.
 * Its incarnations begin anew, so that it signs as two. */
TEST(an_emptied_folder)
{
	for (uint64_t seed = 0; seed < 5; seed++) {
		struct sl_sim_options o = {.seed = 300 + seed, .learners = 5, .parameters.rounds = 4};
		struct sl_sim *sim = sl_sim_new(&o);
		sim->liars = true;
		sl_sim_start(sim);
		sl_sim_run_until_phase(sim, 4, SL_PHASE_RELEASE);
		sl_sim_crash(sim, 4);
		sl_host_disk_free(&sim->learners[4].host.disk);
		memset(&sim->learners[4].host.disk, 0, sizeof sim->learners[4].host.disk);
		sl_host_disk_read(&sim->learners[4].host.disk, &sim->learners[4].host.config);
		sim->learners[4].host.config.incarnation = 1;
		sl_sim_restart(sim, 4);
		sl_sim_run_until_report(sim, 4, SL_REPORT_ABSTAINS, SL_REASON_NONE);
		sl_sim_run_until_round(sim, 4);
		sl_sim_run_until_done(sim);
		sl_sim_free(sim);
	}
}
