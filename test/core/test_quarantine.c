/* A peer that has lost records is kept out of one round (PROTOCOL.md §12.4 Quarantine). A learner outside the
 * view cannot keep the others from going on. */
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "tools/sim/sim.h"

/* --- quarantine --- */

/* 2 has sent Hello in its fifth incarnation, and its link is a new one. */
static struct driver *acquainted(uint64_t quorum)
{
	struct driver *p = driver_new(4, 4);
	p->config.parameters.quorum = quorum;
	play(p, "link up 2 3 4\n"
		"hello t1 ready from 3 4\n"
		"hello i5 t1 ready from 2\n"
		"link down 2\n"
		"link up 2");
	return p;
}

TEST(rolled_back)
{
	struct driver *p = acquainted(3);
	play(p, "hello i4 t1 ready from 2 -> QUARANTINED 2");
	const struct sl_report *report = driver_report(p, SL_REPORT_QUARANTINED);
	assert_string_equal(report->quarantined.counter, "incarnation");
	assert_int_equal(report->quarantined.shown, 4);
	assert_int_equal(report->quarantined.known, 5);
	play(p, "hello i4 t1 ready from 2 ->\n" /* reported once a round */
		"hello i3 t1 ready from 2 ->\n"
		"trained -> *AGREE, link state of 1 a1 to 2 3 4\n"
		"link state from 2\n"
		"link state names 1 4 from 3\n"
		"link state names 1 3 from 4 -> *compute analysis*");
	assert_int_equal(p->view->n, 3);
	driver_free(p);
}

/* With a quorum of all, no two disjoint views exist. */
CASE(quorum_of_all, acquainted(4), "hello i4 t1 ready from 2 ->")
CASE(a_higher_incarnation, acquainted(3), "hello i6 t1 ready from 2 ->")

TEST(an_earlier_round)
{
	struct driver *p = acquainted(3);
	play(p, "hello i5 t7 ready from 2\n"
		"hello i6 t6 ready from 2 -> QUARANTINED 2");
	const struct sl_report *report = driver_report(p, SL_REPORT_QUARANTINED);
	assert_string_equal(report->quarantined.counter, "round");
	assert_int_equal(report->quarantined.shown, 6);
	assert_int_equal(report->quarantined.known, 7);
	driver_free(p);
}

#define OLD 3u /* the learner that comes back with an old disk */

static void come_back_old(struct sl_sim *sim, uint32_t incarnation, sl_round committed)
{
	struct sl_core_config *config = &sim->learners[OLD].host.config;
	sl_sim_crash(sim, OLD);
	config->incarnation = incarnation;
	if (committed == 0) {
		config->committed = 0;
		config->certificate = NULL;
		memset(config->previous, 0, sizeof config->previous);
	}
	sl_sim_restart(sim, OLD);
}

static uint64_t learners_of(struct sl_sim *sim, uint32_t i, sl_round t)
{
	for (size_t k = 0; k < sim->note_count; k++) {
		const struct sl_sim_note *note = &sim->notes[k];
		if (note->learner == i && note->report.kind == SL_REPORT_COMMITTED && note->report.t == t)
			return note->report.committed.learners;
	}
	sl_sim_fail(sim, "learner %u did not commit round %u with others", sim->ids[i], t);
}

/* Quarantine in round 3; from the next round on, at the latest from the one after it, all take part. */
static void out_and_in_again(uint64_t seed, uint32_t incarnation, sl_round committed)
{
	struct sl_sim_options o = {.seed = seed, .learners = 4, .parameters.rounds = 6};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->learners[OLD].host.config.incarnation = 9;
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, 2);
	for (uint32_t i = 0; i < OLD; i++)
		sim->learners[i].silent = true; /* from round 4 on */
	come_back_old(sim, incarnation, committed);
	for (uint32_t i = 0; i < OLD; i++)
		sl_sim_run_until_commit(sim, i, 3);
	sl_sim_run_until_commit(sim, OLD, 3);
	for (uint32_t i = 0; i < OLD; i++) {
		assert_int_equal(sl_sim_expect(sim, i, SL_REPORT_QUARANTINED, SL_REASON_NONE)->report.peer,
				 OLD);
		assert_int_equal(learners_of(sim, i, 3), 3);
		sim->learners[i].silent = false;
		sl_sim_post(sim, sim->now,
			    (struct sl_sim_event){.kind = SL_SIM_TRAINED,
						  .learner = i,
						  .generation = sim->learners[i].training});
	}
	sl_sim_run_until_round(sim, 6);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(learners_of(sim, i, 4), 4);
		assert_int_equal(learners_of(sim, i, 6), 4);
		if (i != OLD)
			assert_int_equal(sl_sim_count(sim, i, SL_REPORT_QUARANTINED, SL_REASON_NONE, NULL),
					 1);
	}
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

TEST(until_the_next_commit)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		out_and_in_again(1600 + seed, 10, 0); /* has lost the model, */
		out_and_in_again(1650 + seed, 8, 2);  /* or only the count of its starts */
	}
}

/* --- a learner outside the view keeps trying --- */

static uint32_t superseded(const struct sl_sim *sim, sl_round t)
{
	uint32_t count = 0;
	for (size_t k = 0; k < sim->note_count; k++)
		count += sim->notes[k].learner != OLD && sim->notes[k].report.t == t &&
			 sim->notes[k].report.reason == SL_REASON_SUPERSEDED;
	return count;
}

/* Every step takes seconds, so that the learner outside has time to try. */
static struct sl_sim *slow(uint64_t seed)
{
	struct sl_sim_options o = {.seed = seed, .learners = 4, .delay_ms = 4000, .parameters.rounds = 3};
	struct sl_sim *sim = sl_sim_new(&o);
	for (uint32_t i = 0; i < 4; i++) {
		sim->learners[i].host.config.stall_timeout_ms = 60000;
		sim->learners[i].host.config.straggler_timeout_ms = 5000;
		sim->learners[i].host.config.incarnation = 9;
	}
	return sim;
}

TEST(quarantined_tries)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim *sim = slow(1700 + seed);
		sl_sim_start(sim);
		sl_sim_run_until_round(sim, 1);
		come_back_old(sim, 8, 1);
		sl_sim_run_until_commit(sim, 0, 2);
		/* only learners that do not know of the quarantine yet follow its attempts */
		assert_true(superseded(sim, 2) <= 6);
		assert_int_equal(learners_of(sim, 0, 2), 3);
		sl_sim_run_until_round(sim, 3);
		sl_sim_free(sim);
	}
}

TEST(late_one_tries)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim *sim = slow(1720 + seed);
		sim->learners[OLD].silent = true;
		sl_sim_start(sim);
		for (uint32_t i = 0; i < OLD; i++)
			sl_sim_run_until_phase(sim, i, SL_PHASE_SHARE);
		sim->learners[OLD].silent = false;
		sl_sim_post(sim, sim->now,
			    (struct sl_sim_event){.kind = SL_SIM_TRAINED, .learner = OLD, .generation = 1});
		sim->learners[OLD].training = 1;
		sl_sim_run_until_round(sim, 1);
		assert_int_equal(superseded(sim, 1), 0);
		assert_int_equal(learners_of(sim, 0, 1), 3);
		sl_sim_run_until_round(sim, 3);
		sl_sim_free(sim);
	}
}

/* --- a quarantine that one learner does not share --- */

/* Learner 0 starts again and does not know of the quarantine: the old one has one edge, to learner 0. */
TEST(not_shared)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim_options o = {
			.seed = 1740 + seed, .learners = 5, .parameters = {.rounds = 4, .privacy_check = 1}};
		struct sl_sim *sim = sl_sim_new(&o);
		for (uint32_t i = 0; i < 5; i++)
			sim->learners[i].host.config.incarnation = 9;
		sl_sim_start(sim);
		sl_sim_run_until_round(sim, 1);
		come_back_old(sim, 8, 1);
		sl_sim_run_until_report(sim, 1, SL_REPORT_QUARANTINED, SL_REASON_NONE);
		sl_sim_crash(sim, 0);
		sl_sim_restart(sim, 0);
		uint64_t since = sim->now;
		sl_sim_run_until_commit(sim, 1, 3);
		assert_true(sim->now < since + 60000000);
		sl_sim_free(sim);
	}
}

/* 4 is outside the view; 3 is in it. */
CASE(signers_outside_the_view, driver_agree_without_4(),
     "analysis done\n"
     "link state of 4 a7 names 2 from 2 -> links 2 3 4, link state of 4 a7 to 3\n"
     "link state a5 names 1 2 from 3 -> *FAILED superseded 3*\n"
     "deadline +2000 -> *AGREE, link state of 1 a7 to 2 3*") /* 4 is alive, and has time to answer */
