/* Who comes back with less than it had is kept out of one round (PROTOCOL.md §7.8 Agree on the view); and
 * whoever is left out, for this or for being late, cannot keep the others from going on. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "tools/sim/sim.h"

#define LIST(...) ((const sl_id[]){__VA_ARGS__, 0})
#define EXPECT(text, trace) assert_string_equal(trace, text)

static bool says(const struct driver *p, const char *text)
{
	return strstr(p->trace.text, text) != NULL;
}

static const struct sl_report *report_of(const struct driver *p, enum sl_report_kind kind)
{
	for (uint32_t i = 0; i < p->actions.count; i++)
		if (p->actions.items[i].kind == SL_ACTION_REPORT && p->actions.items[i].report.kind == kind)
			return &p->actions.items[i].report;
	fail_msg("no %s in %s", sl_report_name(kind), p->trace.text);
	return NULL;
}

/* --- quarantine --- */

static const char *tell_hello_of(struct driver *p, sl_id from, uint32_t incarnation, sl_round t)
{
	return tell_message(p, from,
			    &(struct sl_message){.kind = SL_MSG_HELLO,
						 .hello = {.id = from,
							   .incarnation = incarnation,
							   .t = t,
							   .a = 1,
							   .status = SL_PEER_STATUS_READY}});
}

/* 2 has been heard of in its fifth incarnation, and loses its link. */
static struct driver *acquainted(uint64_t quorum)
{
	struct driver *p = driver_build(4, 4);
	p->config.parameters.quorum = quorum;
	driver_start(p);
	for (sl_id id = 2; id <= 4; id++)
		tell_link(p, true, id);
	tell_hello(p, 3, 1, SL_PEER_STATUS_READY);
	tell_hello(p, 4, 1, SL_PEER_STATUS_READY);
	tell_hello_of(p, 2, 5, 1);
	tell_link(p, false, 2);
	tell_link(p, true, 2);
	return p;
}

TEST(test_rolled_back)
{
	struct driver *p = acquainted(3);
	EXPECT("hello t1 ready from 2 -> QUARANTINED 2", tell_hello_of(p, 2, 4, 1));
	const struct sl_report *report = report_of(p, SL_REPORT_QUARANTINED);
	assert_string_equal(report->quarantined.counter, "incarnation");
	assert_int_equal(report->quarantined.shown, 4);
	assert_int_equal(report->quarantined.known, 5);
	EXPECT("hello t1 ready from 2 ->", tell_hello_of(p, 2, 4, 1)); /* said once */
	EXPECT("hello t1 ready from 2 ->", tell_hello_of(p, 2, 3, 1)); /* a round */
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	assert_true(says(p, "AGREE, link state of 1 a1 to 2 3 4"));
	tell_link_state(p, 2, 2, 1, LIST(1, 3, 4));
	tell_link_state(p, 3, 3, 1, LIST(1, 4));
	tell_link_state(p, 4, 4, 1, LIST(1, 3));
	assert_true(says(p, "compute analysis"));
	assert_int_equal(p->view->n, 3);
	driver_free(p, 0);
}

/* All have to take part: no two groups can promise different things. */
TEST(test_everybody_is_needed)
{
	struct driver *p = acquainted(4);
	EXPECT("hello t1 ready from 2 ->", tell_hello_of(p, 2, 4, 1));
	driver_free(p, 0);
}

TEST(test_a_higher_incarnation)
{
	struct driver *p = acquainted(3);
	EXPECT("hello t1 ready from 2 ->", tell_hello_of(p, 2, 6, 1));
	driver_free(p, 0);
}

TEST(test_an_earlier_round)
{
	struct driver *p = acquainted(3);
	tell_hello_of(p, 2, 5, 7);
	EXPECT("hello t6 ready from 2 -> QUARANTINED 2", tell_hello_of(p, 2, 6, 6));
	const struct sl_report *report = report_of(p, SL_REPORT_QUARANTINED);
	assert_string_equal(report->quarantined.counter, "round");
	assert_int_equal(report->quarantined.shown, 6);
	assert_int_equal(report->quarantined.known, 7);
	driver_free(p, 0);
}

#define OLD 3u /* who comes back with an old disk */

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

/* In round 3; the others are with it again from the next one on, at the latest from that after it. */
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

TEST(test_until_the_next_commit)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		out_and_in_again(1600 + seed, 10, 0); /* has lost the model, */
		out_and_in_again(1650 + seed, 8, 2);  /* or only the count of its starts */
	}
}

/* --- those who are left out try again and again: in vain, but in nobody's way --- */

static uint32_t superseded(const struct sl_sim *sim, sl_round t)
{
	uint32_t count = 0;
	for (size_t k = 0; k < sim->note_count; k++)
		count += sim->notes[k].learner != OLD && sim->notes[k].report.t == t &&
			 sim->notes[k].report.reason == SL_REASON_SUPERSEDED;
	return count;
}

/* Everything takes seconds, so that the one left out has time to try. */
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

TEST(test_quarantined_tries)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim *sim = slow(1700 + seed);
		sl_sim_start(sim);
		sl_sim_run_until_round(sim, 1);
		come_back_old(sim, 8, 1);
		sl_sim_run_until_commit(sim, 0, 2);
		assert_true(superseded(sim, 2) <=
			    6); /* by who has not heard yet that it is kept out, and not again and again */
		assert_int_equal(learners_of(sim, 0, 2), 3);
		sl_sim_run_until_round(sim, 3);
		sl_sim_free(sim);
	}
}

TEST(test_late_one_tries)
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

/* 4 is outside, whatever it counts to; 3 is not, though it counts to less. */
TEST(test_who_ends_an_attempt)
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
	tell_link_state(p, 2, 4, 7, LIST(2));
	assert_false(says(p, "FAILED"));
	tell_link_state(p, 2, 3, 5, LIST(1, 2));
	assert_true(says(p, "FAILED superseded 3"));
	tell_time(p, 2000); /* 4 is given time to answer: it is alive */
	assert_true(says(p, "AGREE, link state of 1 a7 to 2 3"));
	driver_free(p, 0);
}
