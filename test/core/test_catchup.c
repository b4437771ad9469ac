/* Catch-up (ROUND.md §11 Catch-up): a learner that was away adopts the last result and takes part again.
 * The checker compares every adopted model. */
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "test/core/verbs.h"

#define AWAY 3u

static struct sl_sim *build(struct sl_sim_options options)
{
	options.learners = options.learners != 0 ? options.learners : 4;
	return sl_sim_new(&options);
}

static struct sl_sim *begin(uint64_t seed, uint64_t rounds, uint64_t n)
{
	struct sl_sim *sim =
		build((struct sl_sim_options){.seed = seed, .parameters = {.rounds = rounds, .n = n}});
	sl_sim_start(sim);
	return sim;
}

static void leave_behind(struct sl_sim *sim, sl_round from, sl_round to)
{
	sl_sim_run_until_commit(sim, AWAY, from);
	sl_sim_isolate(sim, AWAY);
	for (uint32_t i = 0; i < AWAY; i++)
		sl_sim_run_until_commit(sim, i, to);
}

static const struct sl_sim_note *caught_up(struct sl_sim *sim)
{
	const struct sl_sim_note *note = NULL;
	if (sl_sim_count(sim, AWAY, SL_REPORT_CAUGHT_UP, SL_REASON_NONE, &note) == 0)
		sl_sim_fail(sim, "it never caught up");
	return note;
}

static const struct sl_sim_note *next_note(struct sl_sim *sim, const struct sl_sim_note *from,
					   enum sl_report_kind kind)
{
	for (; from < sim->notes + sim->note_count; from++)
		if (from->learner == AWAY && from->report.kind == kind)
			return from;
	sl_sim_fail(sim, "it never said %s again", sl_report_name(kind));
}

/* AWAY commits the round after its last catch-up, with all others. */
static void expect_together(struct sl_sim *sim, sl_round latest)
{
	const struct sl_sim_note *note = next_note(sim, caught_up(sim), SL_REPORT_COMMITTED);
	sl_round caught = caught_up(sim)->report.caught_up.t;
	if (note->report.t != caught + 1 || note->report.t > latest ||
	    note->report.committed.learners != sim->n)
		sl_sim_fail(sim, "after round %u it commits round %u of %u learners", caught, note->report.t,
			    note->report.committed.learners);
}

/* --- a learner that was away --- */

static void away_for(uint64_t seed, sl_round rounds)
{
	struct sl_sim *sim = begin(seed, rounds + 6, 8);
	leave_behind(sim, 1, 1 + rounds);
	sl_sim_rejoin(sim, AWAY);
	const struct sl_sim_note *note =
		sl_sim_run_until_report(sim, AWAY, SL_REPORT_CAUGHT_UP, SL_REASON_NONE);
	assert_true(note->report.caught_up.t >= 1 + rounds); /* in one go */
	assert_int_equal(note->report.caught_up.learners, 3);
	assert_in_range(note->report.caught_up.signers, 2, 3); /* c+1 at least */
	assert_memory_equal(note->report.caught_up.digest, sim->digests[note->report.caught_up.t],
			    SL_HASH_BYTES);
	sl_sim_run_until_round(sim, rounds + 6);
	assert_in_range(sl_sim_count(sim, AWAY, SL_REPORT_CAUGHT_UP, SL_REASON_NONE, NULL), 1, 2);
	expect_together(sim, 1 + rounds + 3);
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

TEST(away)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		away_for(100 + seed, 1);
		away_for(200 + seed, 3);
	}
	away_for(300, 50);
}

static uint32_t shown_chunks;

static bool count_results(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)sim;
	(void)i;
	shown_chunks += j == AWAY && m->kind == SL_MSG_RESULT;
	return true;
}

/* Return the time, in ms, that a catch-up takes beside a peer whose messages take `ms` more, or beside four
 * if `slow` is AWAY itself. */
static uint64_t fetch_beside(uint32_t slow, uint32_t ms)
{
	struct sl_sim *sim = build((struct sl_sim_options){
		.seed = 90,
		.learners = 5,
		.parameters = {.rounds = 2, .n = 6 * SL_RESULT_BYTES / sizeof(float)}});
	sl_sim_start(sim);
	leave_behind(sim, 1, 2);
	for (uint32_t i = 0; i < sim->n; i++)
		if (i == slow || slow == AWAY)
			sim->links[i * sim->n + AWAY].slow_ms = sim->links[AWAY * sim->n + i].slow_ms = ms;
	sl_sim_rejoin(sim, AWAY);
	sim->tap = count_results;
	shown_chunks = 0;
	uint64_t since = sim->now;
	sl_sim_run_until_report(sim, AWAY, SL_REPORT_CAUGHT_UP, SL_REASON_NONE);
	since = sim->now - since;
	sl_sim_free(sim);
	return since / 1000;
}

/* One peer is slow, or all but silent, while three others have the result. Where none is, no chunk comes
 * twice.
 */
TEST(one_slow_peer_of_four)
{
	uint64_t quick = fetch_beside(0, 0);
	for (uint32_t slow = 0; slow < 5; slow++)
		for (uint32_t ms = 500; ms <= 500000 && slow != AWAY; ms *= 1000)
			assert_in_range(fetch_beside(slow, ms), 1, 2 * quick);
}

/* Each answer takes so long that it might not come: still two divide the chunks, and hardly one comes twice.
 */
TEST(thin_links)
{
	fetch_beside(AWAY, 2400);
	assert_in_range(shown_chunks, 6, 8);
}

/* A peer that the others did not wait for in the round that is fetched is not waited for in the next one. Its
 * Hello may come before the round or after it. */
static void expect_no_wait(uint64_t seed)
{
	struct sl_sim *sim =
		build((struct sl_sim_options){.seed = seed, .learners = 5, .parameters.rounds = 8});
	sl_sim_start(sim);
	sl_sim_run_until_commit(sim, AWAY, 1);
	sl_sim_isolate(sim, AWAY);
	sim->learners[4].training_ms = 1000000000;
	sl_sim_run_until_commit(sim, 0, 4);
	sl_sim_rejoin(sim, AWAY);
	uint64_t since = sim->now;
	sl_sim_run_until_report(sim, AWAY, SL_REPORT_CAUGHT_UP, SL_REASON_NONE);
	sl_sim_run_until_report(sim, AWAY, SL_REPORT_COMMITTED, SL_REASON_NONE);
	assert_true(sim->now < since + 20000000);
	sl_sim_free(sim);
}

TEST(a_straggler_of_the_others)
{
	for (uint64_t seed = 0; seed < 16; seed++)
		expect_no_wait(90 + seed);
}

static void finish_training(struct sl_sim *sim, uint32_t i)
{
	struct sl_sim_learner *l = &sim->learners[i];
	l->silent = false;
	sl_sim_post(sim, sim->now,
		    (struct sl_sim_event){.kind = SL_SIM_TRAINED, .learner = i, .generation = l->training});
}

/* It comes back while the others train: it takes part in their next round. */
TEST(the_next_round)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim *sim = begin(320 + seed, 6, 8);
		leave_behind(sim, 1, 2);
		for (uint32_t i = 0; i < AWAY; i++)
			sim->learners[i].silent = true; /* from round 4 on: that of 3 has begun */
		for (uint32_t i = 0; i < AWAY; i++)
			sl_sim_run_until_commit(sim, i, 3);
		sl_sim_rejoin(sim, AWAY);
		assert_int_equal(sl_sim_run_until_report(sim, AWAY, SL_REPORT_CAUGHT_UP, SL_REASON_NONE)
					 ->report.caught_up.t,
				 3);
		for (uint32_t i = 0; i < AWAY; i++)
			finish_training(sim, i);
		sl_sim_run_until_round(sim, 6);
		assert_int_equal(sl_sim_count(sim, AWAY, SL_REPORT_CAUGHT_UP, SL_REASON_NONE, NULL), 1);
		expect_together(sim, 4);
		sl_sim_run_until_done(sim);
		sl_sim_free(sim);
	}
}

TEST(starts_late)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim *sim =
			build((struct sl_sim_options){.seed = 400 + seed, .parameters.rounds = 6});
		sim->learners[AWAY].host.stopped = true;
		sl_sim_start(sim);
		sl_sim_run_until_commit(sim, 0, 2);
		sl_sim_restart(sim, AWAY);
		sl_sim_run_until_round(sim, 6);
		expect_together(sim, 5);
		sl_sim_run_until_done(sim);
		sl_sim_free(sim);
	}
}

/* Its model is of a round that is over, and is dropped. */
TEST(trains_slowly)
{
	struct sl_sim *sim = build((struct sl_sim_options){.seed = 420, .parameters.rounds = 5});
	for (uint32_t i = 0; i < AWAY; i++)
		sim->learners[i].host.config.straggler_timeout_ms = 3000;
	sim->learners[AWAY].silent = true;
	sl_sim_start(sim);
	sl_sim_run_until_commit(sim, 0, 3);
	finish_training(sim, AWAY);
	sl_sim_run_until_round(sim, 5);
	expect_together(sim, 5);
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

static bool hide_that_it_is_done(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)sim;
	return m->kind != SL_MSG_HELLO || m->hello.status != SL_PEER_STATUS_DONE || i == AWAY || j == AWAY;
}

/* The roster got other settings in the meantime: the result is taken as it was agreed on. */
TEST(other_settings)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim *sim = begin(440 + seed, 3, 8);
		sim->tap = hide_that_it_is_done;
		leave_behind(sim, 1, 3);
		sl_sim_crash(sim, AWAY);
		sim->learners[AWAY].host.config.scope.roster[0] ^= 1;
		sim->learners[AWAY].host.config.parameters.decimals = 5;
		sl_sim_restart(sim, AWAY);
		sl_sim_rejoin(sim, AWAY);
		sl_sim_run_until_commit(sim, AWAY, 3); /* the checker compares the models */
		sl_sim_free(sim);
	}
}

/* Updates: the model of a round follows from that of the round before. A learner that is three rounds behind,
 * and one that has none, take the model itself; the next update of each is one to that model, or the checker
 * finds another mean. */
TEST(updates)
{
	for (uint64_t seed = 0; seed < 10; seed++)
		for (sl_round last = 0; last < 2; last++) {
			struct sl_sim *sim = build((struct sl_sim_options){
				.seed = 480 + seed, .parameters = {.rounds = 7, .values = SL_VALUES_UPDATE}});
			sl_sim_start(sim);
			leave_behind(sim, last, last + 3);
			sl_sim_rejoin(sim, AWAY);
			sl_sim_run_until_commit(sim, AWAY, 7);
			uint32_t fetched = sl_sim_count(sim, AWAY, SL_REPORT_CAUGHT_UP, SL_REASON_NONE, NULL);
			uint32_t took_part =
				sl_sim_count(sim, AWAY, SL_REPORT_COMMITTED, SL_REASON_NONE, NULL);
			assert_true(fetched >= 1 && took_part >= 1);
			sl_sim_free(sim);
		}
}

/* A prepared attempt keeps its values: the learner is restarted with others and commits it. */
TEST(values_of_a_prepared_attempt)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim *sim = build((struct sl_sim_options){
			.seed = 490 + seed, .parameters = {.rounds = 2, .values = SL_VALUES_UPDATE}});
		sl_sim_start(sim);
		sl_sim_run_until_commit(sim, AWAY, 1);
		sl_sim_run_until_phase(sim, AWAY, SL_PHASE_RELEASE);
		sl_sim_crash(sim, AWAY);
		sim->learners[AWAY].host.config.parameters.values = SL_VALUES_MODEL;
		sl_sim_restart(sim, AWAY);
		sl_sim_rejoin(sim, AWAY);
		sl_sim_run_until_commit(sim, AWAY, 2);
		sl_sim_free(sim);
	}
}

/* The run is over, and the others serve its result. */
TEST(after_the_last_round)
{
	struct sl_sim *sim = begin(430, 3, 8);
	sim->tap = hide_that_it_is_done;
	leave_behind(sim, 1, 3);
	sl_sim_run_until_phase(sim, 0, SL_PHASE_DONE);
	sl_sim_elapse(sim, 20000);
	sl_sim_rejoin(sim, AWAY);
	sl_sim_run_until_commit(sim, AWAY, 3);
	assert_int_equal(caught_up(sim)->report.caught_up.t, 3);
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

/* A restarted learner serves the result from its disk. */
TEST(a_restarted_server)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim *sim = begin(440 + seed, 6, SL_CHUNK_ELEMENTS + 7);
		leave_behind(sim, 1, 3);
		sl_sim_crash(sim, 0);
		sl_sim_restart(sim, 0);
		sl_sim_restore(sim, 0, AWAY); /* to no other peer */
		sl_sim_run_until_round(sim, 6);
		assert_int_equal(caught_up(sim)->report.peer, 0);
		assert_in_range(caught_up(sim)->report.caught_up.signers, 2, 3);
		sl_sim_run_until_done(sim);
		sl_sim_free(sim);
	}
}

/* --- while the peer is busy --- */

static bool lose_digests(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)sim;
	(void)i;
	return m->kind != SL_MSG_DIGEST || j != 0;
}

/* Hold the third chunk and all that follows it. */
static bool hold_results(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (i == 0 && j == AWAY && m->kind == SL_MSG_RESULT && m->chunk.index == 2)
		sl_sim_hold(sim, 0, AWAY);
	return true;
}

/* The peer waits in CONFIRM: it shows the round before, and is asked again after its commit. */
TEST(requests_while_it_confirms)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim *sim = begin(460 + seed, 4, 8);
		leave_behind(sim, 1, 2);
		sl_sim_run_until_phase(sim, 0, SL_PHASE_MIX);
		sim->tap = lose_digests;
		sl_sim_run_until_phase(sim, 0, SL_PHASE_CONFIRM);
		sl_sim_restore(sim, 0, AWAY);
		sl_sim_run_until_phase(sim, AWAY, SL_PHASE_CATCHUP);
		sim->tap = NULL;
		sl_sim_run_until_commit(sim, 0, 3);
		uint64_t since = sim->now;
		sl_sim_run_until_commit(sim, AWAY, 3);
		assert_true(sim->now < since + 3000000);
		sl_sim_run_until_done(sim);
		sl_sim_free(sim);
	}
}

/* Seven chunks; some are here when the peer commits the next round. */
TEST(another_commit_in_between)
{
	for (uint64_t seed = 0; seed < 4; seed++) {
		struct sl_sim *sim = build((struct sl_sim_options){
			.seed = 480 + seed,
			.parameters = {.rounds = 4, .n = 7 * SL_RESULT_BYTES / sizeof(float)}});
		for (uint32_t i = 0; i < AWAY; i++)
			sim->learners[i].host.config.straggler_timeout_ms = 500;
		sl_sim_start(sim);
		leave_behind(sim, 1, 2);
		sim->tap = hold_results;
		sl_sim_restore(sim, 0, AWAY);
		sl_sim_run_until_phase(sim, AWAY, SL_PHASE_CATCHUP);
		sl_sim_run_until_commit(sim, 0, 3);
		uint64_t since = sim->now;
		sim->tap = NULL;
		sl_sim_release(sim, 0, AWAY);
		const struct sl_sim_note *note =
			sl_sim_run_until_report(sim, AWAY, SL_REPORT_CAUGHT_UP, SL_REASON_NONE);
		assert_int_equal(note->report.caught_up.t, 3);
		assert_true(sim->now < since + 1000000);
		sl_sim_expect_none(sim, AWAY, SL_REPORT_REJECTED, SL_REASON_NONE);
		sl_sim_free(sim);
	}
}

/* While a learner fetches a round that was shown to be over, its link state has no candidates, and attempts
 * of the others are refused for good. So it begins one itself when it was shown no round, although no
 * candidate of it has changed. */
TEST(an_attempt_after_a_catch_up_in_vain)
{
	struct driver *p = driver_new(4, 4);
	p->config.parameters.quorum = 3;
	play(p, "start -> *\n"
		"link up 2 3\n"
		"hello t1 ready from 2 3\n"
		"trained -> DISCOVER, *\n"
		"deadline +8000 -> AGREE, link state of 1 a1 to 2 3\n"
		"link state of 2 a1 names 1 3 from 2 -> *\n"
		"link state of 3 a1 n0 from 3 -> FAILED quorum 2 of 3, *\n"
		"link up 4 -> *\n"
		"hello t2 training from 4 -> CATCHUP, request t0 0 to 4\n"
		"round t2 from 4\n"
		"digest t2 from 4\n"
		"digest of 2 t2 from 4\n"
		"digest of 3 t2 from 4 -> link state of 1 a2 to 2 3 4\n"
		"deadline +10000 -> *DISCOVER, *\n"
		"deadline +60000 -> *AGREE, link state of 1 a3 to 2 3 4");
	driver_free(p);
}

/* In CATCHUP a learner drops States, and takes the keys that any participant shows. So it does not mix
 * afterwards: a Digest out of MIX would rest on a key that its owner has not sent. */
CASE(no_mixing_after_a_catch_up_in_vain, driver_ready(driver_new(3, 4)),
     "hello t2 training from 2 ->\n" /* a Hello alone ends nothing that goes on */
     "deadline +10000 -> *CATCHUP, request t0 0 to 2\n"
     "deadline +10000 -> *READY*\n"
     "ready from 2 -> *\n"
     "ready from 3 -> *\n"
     "check done\n"
     "check done -> persist released t1 a1, RELEASE\n"
     "durable released -> key of 1 to 2 3, RECOVERING restarted, *RECOVER, *")

/* c+1 others that are in a later round have committed this one, whatever the signers of the missing Readys
 * do. One counts once, in a Hello or a link state. */
CASE(c_and_one_have_committed, driver_ready(driver_new(4, 4)),
     "hello t2 training from 2 ->\n"
     "link state of 2 t2 from 3 -> *\n"
     "deadline +1 ->\n"
     "link state of 3 t2 from 2 -> CATCHUP, request t0 0 to 2, *\n"
     "deadline +10000 -> *READY*\n")

CASE(hellos_of_c_and_one, driver_ready(driver_new(4, 4)),
     "hello t2 training from 2 ->\n"
     "hello t2 training from 3 -> CATCHUP, request t0 0 to 2, request t0 1 to 3")

/* The Hello of a link that fell says nothing of what its end says now. */
CASE(a_hello_of_a_link_that_fell, driver_ready(driver_new(4, 4)),
     "hello t2 training from 2 ->\n"
     "link down 2\n"
     "hello t2 training from 3 ->")

/* A peer that claims a later round, and shows none, is waited for as long as one that trains, and no longer:
 * what passed in CATCHUP counts. Two that claim one in turn would keep the window open for ever. */
CASE(a_catch_up_in_vain_keeps_the_window, driver_new(4, 4),
     "start -> *\n"
     "link up 2 3 4\n"
     "hello t1 ready from 2 3\n"
     "trained -> DISCOVER, *\n"
     "hello t2 training from 4 -> CATCHUP, request t0 0 to 4\n"
     "deadline +10000 -> *DISCOVER, *\n"
     "deadline +49999 -> BEHIND 4, WAITING 4\n"
     "deadline +1 -> AGREE, link state of 1 a1 to 2 3 4")
