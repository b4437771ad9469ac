/* From DISCOVER to one view (ROUND.md §7.4 Discover, §7.8 Agree on the view), with Hellos and link states
 * late, lost or out of order; and how fast. */
#include <stdlib.h>

#include "common/core/compatible.h"
#include "test/lib/test.h"
#include "test/core/driver.h"
#include "test/simulator/check.h"
#include "test/core/verbs.h"

static struct sl_sim *build(uint64_t seed, uint32_t learners, const char *topology, uint64_t rounds)
{
	struct sl_sim_options o = {
		.seed = seed, .learners = learners, .topology = topology, .parameters.rounds = rounds};
	return sl_sim_new(&o);
}

static void end(struct sl_sim *sim)
{
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

/* --- delayed, twice, out of order --- */

/* Of every three records: deliver one as it is, one twice, and one late, after later ones. */
static bool disorder_records(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (m->kind != SL_MSG_LINK_STATE && m->kind != SL_MSG_READY)
		return true;
	uint64_t what = sl_sim_random(sim->context) % 3;
	if (what > 0)
		sl_sim_echo(sim, i, j, m, 2000);
	return what < 2;
}

/* The same for Hellos, although no link reorders them. */
static bool disorder_all(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (m->kind != SL_MSG_HELLO)
		return disorder_records(sim, i, j, m);
	uint64_t what = sl_sim_random(sim->context) % 3;
	if (what > 0)
		sl_sim_echo(sim, i, j, m, 50);
	return what < 2;
}

static void play_disorder(uint64_t seed,
			  bool (*tap)(struct sl_sim *, uint32_t, uint32_t, struct sl_message *), bool all)
{
	static const char *const topologies[] = {"complete", "ring", "line"};
	struct sl_sim *sim = build(700 + seed, 4 + (uint32_t)(seed % 4), topologies[seed % 3], 2);
	uint64_t random = seed;
	sim->tap = tap;
	sim->context = &random;
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, 2);
	for (size_t k = 0; k < sim->note_count; k++)
		if (all && sim->notes[k].report.kind == SL_REPORT_COMMITTED)
			assert_int_equal(sim->notes[k].report.committed.learners, sim->n);
	end(sim);
}

TEST(disorder)
{
	for (uint64_t seed = 0; seed < 150; seed++) {
		play_disorder(seed, disorder_records, true); /* nothing is lost: all take part */
		play_disorder(seed, disorder_all, false);
	}
}

/* --- edges that one end does not confirm --- */

static const struct sl_sim_attempt *committed_page(const struct sl_sim *sim)
{
	const struct sl_sim_attempt *best = NULL;
	for (const struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		if (page->of[0].x != NULL && (best == NULL || page->a > best->a))
			best = page;
	return best;
}

static bool has_edge(const struct sl_sim *sim, uint32_t i, uint32_t j)
{
	return committed_page(sim)->edge[(size_t)i * sim->n + j] ||
	       committed_page(sim)->edge[(size_t)j * sim->n + i];
}

/* Lose the Hellos of 1 to 3 and of 0 to 4. */
static bool deafen(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)sim;
	return m->kind != SL_MSG_HELLO || !((i == 1 && j == 3) || (i == 0 && j == 4));
}

TEST(heard_one_way)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim *sim = build(900 + seed, 5, "complete", 1);
		sim->tap = deafen;
		sl_sim_start(sim);
		sl_sim_run_until_round(sim, 1);
		assert_false(has_edge(sim, 1, 3) || has_edge(sim, 0, 4));
		for (uint32_t i = 0; i < 5; i++) {
			const struct sl_sim_note *note =
				sl_sim_expect(sim, i, SL_REPORT_COMMITTED, SL_REASON_NONE);
			assert_int_equal(note->report.committed.learners, 5);
			assert_int_equal(note->report.committed.edges, 10 - 2);
		}
		sl_sim_free(sim);
	}
}

/* 0 names 3, at the other end of a line. The mail has room for one more candidate. */
static bool boast_of_an_edge(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)j;
	if (m->kind != SL_MSG_LINK_STATE || i != 0 || m->link_state.id != sim->ids[0])
		return true;
	((sl_id *)(uintptr_t)m->link_state.candidates)[m->link_state.count++] = sim->ids[3];
	sl_sim_sign(sim, m);
	return true;
}

TEST(listed_one_way)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim *sim = build(920 + seed, 4, "line", 1);
		sim->tap = boast_of_an_edge;
		sim->liars = true;
		sl_sim_start(sim);
		sl_sim_run_until_phase(sim, 3, SL_PHASE_MIX);
		assert_false(has_edge(sim, 0, 3));
		sl_sim_free(sim);
	}
}

/* --- link states that are late, or do not come --- */

static bool first_of_2(const struct sl_sim *sim, const struct sl_message *m)
{
	return m->kind == SL_MSG_LINK_STATE && m->link_state.id == sim->ids[2] && m->link_state.a == 1;
}

/* Hold what 2 sends from its first link state on. */
static bool hold_from_link_state(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (i == 2 && first_of_2(sim, m))
		sl_sim_hold(sim, i, j);
	return true;
}

static struct sl_sim *late_by(uint64_t seed, sl_ms ms)
{
	struct sl_sim_options o = {.seed = seed,
				   .learners = 5,
				   .topology = "complete",
				   .parameters = {.rounds = 1, .quorum = 5}};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->tap = hold_from_link_state;
	sl_sim_start(sim);
	sl_sim_run_until_phase(sim, 2, SL_PHASE_SHARE); /* it has all link states */
	sl_sim_elapse(sim, ms);
	for (uint32_t j = 0; j < 5; j++)
		sl_sim_release(sim, 2, j);
	return sim;
}

static void expect_missing(struct sl_sim *sim, uint32_t i, uint64_t set)
{
	const struct sl_sim_note *note = sl_sim_expect(sim, i, SL_REPORT_FAILED, SL_REASON_FLOOD);
	assert_int_equal(note->set, set);
	assert_int_equal(note->report.phase, SL_PHASE_AGREE);
	assert_int_equal(note->report.a, 1);
}

static void expect_all_five(struct sl_sim *sim, sl_attempt least)
{
	sl_sim_run_until_round(sim, 1);
	const struct sl_report *report = &sl_sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE)->report;
	assert_int_equal(report->committed.learners, 5);
	assert_true(report->a >= least);
	end(sim);
}

TEST(late)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim *sim = late_by(940 + seed, 9000);
		sl_sim_run_until_round(sim, 1);
		for (uint32_t i = 0; i < 5; i++)
			sl_sim_expect_none(sim, i, SL_REPORT_FAILED, SL_REASON_FLOOD);
		expect_all_five(sim, 1);
	}
}

TEST(too_late)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim *sim = late_by(960 + seed, 72000);
		for (uint32_t i = 0; i < 5; i++)
			if (i != 2)
				expect_missing(sim, i, 1 << 2);
		expect_all_five(sim, 2);
	}
}

static bool lose_link_state(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)j;
	return i != 2 || !first_of_2(sim, m);
}

/* Its signer waits for shares of the others, which wait for it, and begins another attempt. */
TEST(missing)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim *sim = build(980 + seed, 5, "ring", 1);
		sim->tap = lose_link_state;
		sl_sim_start(sim);
		sl_sim_elapse(sim, 30000);
		for (uint32_t i = 0; i < 5; i++)
			if (i != 2)
				sl_sim_expect(sim, i, SL_REPORT_FAILED, SL_REASON_SUPERSEDED);
		expect_all_five(sim, 2);
	}
}

static bool lose_at_the_end(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	return i != 3 || j != 4 || !first_of_2(sim, m);
}

/* Only the last learner of a line waits for it. The others wait for its shares, and begin another attempt
 * before it does. */
TEST(missing_at_one)
{
	struct sl_sim_options o = {
		.seed = 999, .learners = 5, .topology = "line", .parameters = {.rounds = 1, .quorum = 5}};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->tap = lose_at_the_end;
	sl_sim_start(sim);
	sl_sim_run_until_report(sim, 4, SL_REPORT_FAILED, SL_REASON_SUPERSEDED);
	expect_all_five(sim, 2);
}

/* --- learners that hold up the others --- */

/* 5 is a candidate of all and does not sign. */
static struct driver *without_word_of_5(void)
{
	struct driver *p = driver_new(5, 4);
	play(p, "link up all\n"
		"hello t1 ready from all\n"
		"trained -> *AGREE*\n"
		"link state from 2 3 4 -> link state of 4 a1 to 2 3 5\n"
		"deadline +70000 -> FAILED flood 5, PENALTY 5, wipe, DISCOVER*AGREE, link state of 1 a2*");
	return p;
}

/* It may wait for a straggler as long. Then it costs one attempt. */
CASE(not_waited_for_twice, without_word_of_5(),
     "link state a2 names 1 3 4 from 2\n"
     "link state a2 names 1 2 4 from 3\n"
     "link state a2 names 1 2 3 from 4 -> compute analysis*")

/* The records that it signs later in the round are passed on, and the others do not wait for it. */
CASE(heard_after_all, without_word_of_5(),
     "link state a2 names 1 3 4 from 2\n"
     "link state a3 from 5 -> link state of 5 a3 to 2 3 4\n"
     "link state a2 names 1 2 4 from 3\n"
     "link state a2 names 1 2 3 from 4 -> compute analysis*")

/* 2 goes on naming it: it may not know the first time; then 2 is not waited for either. */
CASE(named_again_and_again, without_word_of_5(),
     "link state a2 from 2\n"
     "link state a2 names 1 2 4 from 3\n"
     "link state a2 names 1 2 3 from 4 -> link state of 4 a2 to 2 3 5\n"
     "deadline +10000 -> FAILED flood 5, PENALTY 5, wipe*\n"
     "deadline +1000 -> *AGREE, link state of 1 a3*\n"
     "link state a3 from 2\n"
     "link state a3 names 1 2 4 from 3\n"
     "link state a3 names 1 2 3 from 4 -> link state of 4 a3 to 2 3 5\n"
     "deadline +10000 -> FAILED flood 5, PENALTY 2 5, wipe*AGREE, link state of 1 a4*\n"
     "link state a4 names 1 4 from 3\n"
     "link state a4 names 1 3 from 4 -> compute analysis*")

/* 5 is linked and says nothing. It is waited for as long as a first word may take, once, and named. */
static struct driver *beside_a_mute_one(void)
{
	struct driver *p = driver_new(5, 4);
	play(p, "link up all\n"
		"hello t1 ready from 2 3 4\n"
		"trained -> DISCOVER, *\n"
		"deadline +7999 ->\n"
		"deadline +1 -> LEFT OUT mute 5, AGREE, link state of 1 a1 to 2 3 4 5\n"
		"link down 5\n"
		"link up 5\n"
		"link state a2 from 2 -> FAILED superseded 2, *AGREE, link state of 1 a2*");
	return p;
}

/* Nor in the attempts after the next one. */
CASE(a_mute_one_is_not_waited_for_again, beside_a_mute_one(),
     "link state a3 from 3 -> FAILED superseded 3, wipe, DISCOVER, links 2 3 4 5, hello t1 ready to 2 3 4 5, "
     "AGREE, link state of 1 a3*")

/* When it speaks, it is waited for like any other. */
CASE(a_mute_one_that_speaks, beside_a_mute_one(),
     "hello t1 training from 5\n"
     "link state a3 from 3 -> FAILED superseded 3, wipe, DISCOVER, links 2 3 4 5, hello t1 ready to 2 3 4 "
     "5*\n"
     "deadline +3000\n"
     "hello t1 ready from 5 -> AGREE, link state of 1 a3 to 2 3 4 5")

/* 0 names 5, which is switched off, in every attempt. */
static bool name_the_dead(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)j;
	if (m->kind != SL_MSG_LINK_STATE || i != 0 || m->link_state.id != sim->ids[0])
		return true;
	((sl_id *)(uintptr_t)m->link_state.candidates)[m->link_state.count++] = sim->ids[5];
	sl_sim_sign(sim, m);
	return true;
}

TEST(the_dead_are_named)
{
	struct sl_sim *sim = build(930, 6, "complete", 3);
	sim->tap = name_the_dead;
	sim->liars = true;
	sim->learners[5].silent = sim->learners[5].host.stopped = true;
	sl_sim_start(sim);
	for (uint32_t i = 1; i < 5; i++)
		sl_sim_run_until_commit(sim, i, 3);
	assert_true(sim->now < 200000000);
	sl_sim_free(sim);
}

/* A learner that hangs while it trains costs straggler_timeout once, not in every round. */
TEST(one_deadline)
{
	struct sl_sim *sim = build(931, 5, "complete", 4);
	sim->learners[4].training_ms = 1000000000;
	sl_sim_start(sim);
	for (uint32_t i = 0; i < 4; i++)
		sl_sim_run_until_commit(sim, i, 4);
	assert_true(sim->now > 60000000 && sim->now < 80000000);
	sl_sim_free(sim);
}

/* A straggler of this round is not waited for again in the next attempt of the round. */
TEST(one_deadline_of_a_round)
{
	struct sl_sim *sim = build(933, 6, "complete", 1);
	sim->learners[5].training_ms = 1000000000;
	sl_sim_start(sim);
	sl_sim_run_until_phase(sim, 0, SL_PHASE_AGREE);
	uint64_t closed = sim->now;
	sl_sim_cut(sim, 0, 1);
	sl_sim_elapse(sim, 10);
	sl_sim_restore(sim, 0, 1);
	sl_sim_run_until_commit(sim, 0, 1);
	sl_sim_expect(sim, 0, SL_REPORT_FAILED, SL_REASON_LINK);
	assert_true(closed > 60000000 && sim->now < closed + 20000000);
	sl_sim_free(sim);
}

/* The neighbours of a learner that trains wait for it longer than for a link state. The others begin without
 * these: they wait for them, and give none a penalty. */
TEST(a_straggler_of_some)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim *sim = build(970 + seed, 6, seed % 2 == 0 ? "ring" : "line", 1);
		sim->learners[2].training_ms = 40000;
		sl_sim_start(sim);
		sl_sim_run_until_round(sim, 1);
		for (uint32_t i = 0; i < 6; i++)
			sl_sim_expect_none(sim, i, SL_REPORT_PENALTY, SL_REASON_NONE);
		assert_int_equal(
			sl_sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.committed.learners,
			6);
		end(sim);
	}
}

/* The odd one is started again with the model of the others: a quorum of all goes on at once. */
TEST(mended)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim_options o = {.seed = 932 + seed, .learners = 5, .parameters.quorum = 5};
		struct sl_sim *sim = sl_sim_new(&o);
		sim->learners[2].host.config.parameters.model = 7;
		sl_sim_start(sim);
		sl_sim_elapse(sim, 600000);
		sl_sim_crash(sim, 2);
		sim->learners[2].host.config.parameters.model = 0;
		sl_sim_restart(sim, 2);
		uint64_t since = sim->now;
		sl_sim_run_until_round(sim, 1);
		assert_true(sim->now < since + 15000000);
		end(sim);
	}
}

/* --- attempts --- */

/* A line in two halves, each with its own attempts. */
TEST(numbers_meet)
{
	uint32_t differed = 0;
	for (uint64_t seed = 0; seed < 30; seed++) {
		struct sl_sim *sim = build(1000 + seed, 6, "line", 1);
		struct sl_core_status left, right;
		sl_sim_cut(sim, 2, 3);
		sl_sim_start(sim);
		sl_sim_elapse(sim, 20000);
		for (uint64_t k = 0; k < seed % 5; k++) { /* each change begins an attempt on the left */
			sl_sim_cut(sim, 0, 1);
			sl_sim_elapse(sim, 8000);
			sl_sim_restore(sim, 0, 1);
			sl_sim_elapse(sim, 8000);
		}
		sl_core_status(sim->learners[0].host.core, &left);
		sl_core_status(sim->learners[5].host.core, &right);
		differed += left.a != right.a;
		sl_sim_restore(sim, 2, 3);
		uint64_t since = sim->now;
		sl_sim_run_until_round(sim, 1);
		assert_true(sim->now < since + 30000000);
		assert_int_equal(
			sl_sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.committed.learners,
			6);
		end(sim);
	}
	assert_true(differed > 0);
}

/* --- how fast --- */

static uint32_t diameter(const struct sl_sim *sim)
{
	uint32_t most = 0, *far = calloc(sim->n, sizeof *far), *queue = calloc(sim->n, sizeof *queue);
	for (uint32_t from = 0; from < sim->n; from++) {
		uint32_t count = 0;
		for (uint32_t i = 0; i < sim->n; i++)
			far[i] = i == from ? 0 : UINT32_MAX;
		queue[count++] = from;
		for (uint32_t next = 0; next < count; next++)
			for (uint32_t j = 0; j < sim->n; j++)
				if (sl_sim_link(sim, queue[next], j)->possible && far[j] == UINT32_MAX) {
					far[j] = far[queue[next]] + 1;
					queue[count++] = j;
				}
		most = far[queue[count - 1]] > most ? far[queue[count - 1]] : most;
	}
	free(far);
	free(queue);
	return most;
}

/* When the last window has closed, all have the view within twice the diameter times the largest delay. */
static void closes_in_time(uint64_t seed, uint32_t learners, const char *topology)
{
	struct sl_sim *sim = build(seed, learners, topology, 1);
	uint64_t last = 0, hop = sim->options.delay_ms * 1000 + 1 +
				 learners; /* queued messages are a microsecond apart */
	sl_sim_start(sim);
	sl_sim_run_until_all_say(sim, SL_REPORT_VIEW, SL_REASON_NONE);
	for (uint32_t i = 0; i < learners; i++)
		last = sim->learners[i].agreed_at > last ? sim->learners[i].agreed_at : last;
	for (uint32_t i = 0; i < learners; i++) {
		assert_int_equal(sl_sim_expect(sim, i, SL_REPORT_VIEW, SL_REASON_NONE)->report.a, 1);
		if (sim->learners[i].viewed_at > last + 2 * diameter(sim) * hop)
			sl_sim_fail(sim,
				    "learner %u of a %s of %u closes its view after %llu us, diameter %u",
				    sim->ids[i], topology, learners,
				    (unsigned long long)(sim->learners[i].viewed_at - last), diameter(sim));
	}
	sl_sim_free(sim);
}

TEST(speed)
{
	for (uint64_t seed = 0; seed < 5; seed++)
		for (uint32_t learners = 3; learners <= 12; learners++) {
			closes_in_time(1100 + seed, learners, "ring");
			closes_in_time(1200 + seed, learners, "line");
			closes_in_time(1300 + seed, learners, "complete");
			closes_in_time(1400 + seed, 2 * learners, "regular:3");
			closes_in_time(1500 + seed, learners + 10, "geometric:0.9");
		}
}

/* 5 is dialled and does not answer; what it signs comes by way of 2. It names 4, which is switched off, again
 * and again: each time the others dial 4, and wait for it, but no longer than stall_timeout in all. */
TEST(the_dead_are_named_for_ever)
{
	struct driver *p = driver_new(5, 4);
	uint32_t ms = 0;
	play(p, "link up 2 3\n"
		"link down 4\n"
		"hello t1 ready from 2 3\n"
		"trained -> DISCOVER, *");
	for (uint32_t i = 1; !driver_says(p, "AGREE") && ms < 60000; i++, ms += 1500)
		play(p,
		     "link state of 5 a1 i%u names 1 4 from 2\n"
		     "link down 4 ->*\n"
		     "deadline +1500",
		     i);
	assert_in_range(ms, 9000, 12000);
	driver_free(p);
}

/* --- peers that differ --- */

static bool says_that_it_differs(struct driver *p, const char *first)
{
	play(p, "link up all\n%s\ntrained", first);
	bool says = driver_says(p, "link state of 1 a1") &&
		    driver_sent(p, SL_MSG_LINK_STATE)->link_state.count == 0;
	driver_free(p);
	return says;
}

/* A learner that no peer may take part with says so; not while others train that it may take part with. */
TEST(what_differs_is_said)
{
	assert_true(
		says_that_it_differs(driver_new(4, 4), "link state m7 from 2 3 4\nhello t1 ready from all"));
	assert_false(says_that_it_differs(driver_new(4, 4),
					  "link state m7 names 3 from 2\nhello t1 training from 3 4"));
}

/* What a link state must have in common with the own one: else its signer is in no view with this learner. */
TEST(what_has_to_be_the_same)
{
	struct driver *p = driver_new(2, 4);
	play(p, "link up 2\nlink state from 2");
	struct sl_link_record *link = &p->core->links[1];
	const struct sl_link_state same = link->state;
	assert_int_equal(sl_compatible_difference(p->core, link), SL_REASON_NONE);
	link->state.initial ^= 1; /* counts with noise alone */
	assert_int_equal(sl_compatible_difference(p->core, link), SL_REASON_NONE);
	p->core->parameters.values = link->state.values = SL_VALUES_NOISY_UPDATE;
	assert_int_equal(sl_compatible_difference(p->core, link), SL_REASON_HISTORY);
	link->state.initial ^= 1;
	assert_int_equal(sl_compatible_difference(p->core, link), SL_REASON_NONE);
	link->state.values = SL_VALUES_UPDATE;
	assert_int_equal(sl_compatible_difference(p->core, link), SL_REASON_OTHER_MODEL);
	p->core->parameters.values = same.values;
	link->state = same;
	link->state.n++;
	assert_int_equal(sl_compatible_difference(p->core, link), SL_REASON_OTHER_MODEL);
	link->state = same;
	link->state.model ^= 1;
	assert_int_equal(sl_compatible_difference(p->core, link), SL_REASON_OTHER_MODEL);
	link->state = same;
	link->state.roster[31] ^= 1;
	assert_int_equal(sl_compatible_difference(p->core, link), SL_REASON_ROSTER);
	link->state = same;
	link->state.previous[31] ^= 1;
	assert_int_equal(sl_compatible_difference(p->core, link), SL_REASON_HISTORY);
	link->state.t++; /* of another round */
	assert_int_equal(sl_compatible_difference(p->core, link), SL_REASON_NONE);
	driver_free(p);
}
