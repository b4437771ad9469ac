/* Wrong messages, or silence, of one peer have limited effects. */
#include <stdlib.h>

#include "common/protocol/view_codec.h"
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "test/core/verbs.h"

/* --- attempts --- */

/* One signer alone makes no attempt jump. An attempt number is never used twice: the learner ends. */
CASE(the_last_attempt, driver_share(driver_new(3, 4)),
     "link state a16777216 from 2 ->\n"
     "link state a16777216 from 3 -> *AGREE, link state of 1 a16777216 to 2 3*\n"
     "link down 3 -> FAILED link 3, PENALTY 3, wipe, EXHAUSTED, stop -10")

/* Nor does a Ready of an attempt that no other learner knows of. */
CASE(a_jump_of_a_ready, driver_new(3, 4),
     "link up 2 3\n"
     "hello t1 ready from 2 3\n"
     "ready a16777215 from 2\n"
     "trained -> DISCOVER, links 2 3, hello t1 ready to 2 3, AGREE, link state of 1 a1 to 2 3")

/* An Abort is for one attempt. */
CASE(an_abort_of_the_last_attempt, driver_agree(driver_new(3, 4)),
     "abort a16777216 from 2\n"
     "analysis done -> VIEW, SHARE, *")

/* --- what one signer may cause --- */

/* Return the number of records of 2 that are passed on to 3, of `count` link states with climbing
 * incarnations. */
static uint32_t passed_on(struct driver *p, uint32_t first, uint32_t count)
{
	uint32_t passed = 0;
	for (uint32_t i = 0; i < count; i++) {
		play(p, "link state t1 a1 i%u names 1 from 2", first + i);
		passed += driver_says(p, "-> link state of 2");
	}
	return passed;
}

/* Records of learner `id` are ignored, or not, whether their signatures are good or bad. */
static void expect_ignored(const struct driver *p, sl_id id, bool ignored)
{
	assert_int_equal(sl_core_ignores(p->core, id - 1, p->now), ignored);
}

TEST(a_flood_of_records)
{
	struct driver *p = driver_new(4, 4);
	play(p, "link up all\n"
		"link state of 3 a1 from 3\n"
		"link state of 4 a1 from 4");
	assert_int_equal(passed_on(p, 1, 128), 128);
	expect_ignored(p, 2, false);
	play(p, "link state a1 i129 names 1 from 2 -> FLOODED 2");
	expect_ignored(p, 2, true);
	expect_ignored(p, 3, false);
	assert_int_equal(passed_on(p, 200, 1000), 0);
	play(p, "link state of 3 a1 i2 from 3 -> link state of 3*\n" /* only that signer */
		"deadline +1000");
	assert_int_equal(passed_on(p, 2000, 100), 16);
	driver_free(p);
}

/* An honest learner stays far below that: it begins 16 attempts in a row, and then two in a second. */
TEST(own_attempts)
{
	struct driver *p = driver_new(4, 4);
	p->config.parameters.quorum = 4; /* 2 is needed, however often it begins another attempt */
	play(p, "link up all\n"
		"hello t1 ready from all\n"
		"trained -> *AGREE*");
	for (uint32_t a = 2; a <= 16; a++)
		play(p, "link state a%u from 2 -> *AGREE*", a);
	play(p, "link state a17 from 2");
	assert_false(driver_says(p, "AGREE"));
	play(p, "deadline +495");
	assert_false(driver_says(p, "AGREE"));
	play(p, "deadline +1 -> AGREE*");
	driver_free(p);
}

/* Alone, a signer raises attempt numbers by 1000, and by one every 10 s; with another one, by as many as they
 * like. */
TEST(a_flood_of_attempts)
{
	struct driver *p = driver_new(4, 4);
	play(p, "link up all\n"
		"link state a901 names 1 from 2");
	assert_int_equal(driver_status(p).a, 901);
	play(p, "link state a1002 names 1 from 2 ->"); /* 100 are left */
	assert_int_equal(driver_status(p).a, 901);
	play(p, "deadline +10000\n"
		"link state a1002 i2 names 1 from 2");
	assert_int_equal(driver_status(p).a, 1002);
	play(p, "link state a16000000 names 1 from 2\n"
		"link state a15000000 names 1 from 3");
	assert_int_equal(driver_status(p).a, 15000000);
	driver_free(p);
}

/* Nor does a start from such numbers run into an assertion. */
TEST(a_start_after_the_last_attempt)
{
	struct driver *p = driver_new(3, 4);
	p->config.aborted = SL_ATTEMPTS_MAX;
	play(p, "start -> *EXHAUSTED, stop -10");
	driver_free(p);
	p = driver_new(3, 4);
	p->config.aborted = SL_ATTEMPTS_MAX - 1;
	play(p, "start -> *train t1*");
	assert_int_equal(driver_status(p).a, SL_ATTEMPTS_MAX);
	driver_free(p);
}

/* --- digests of learners that took no part --- */

/* Of four learners, 4 is linked and took no part in the round that has committed. */
static struct driver *commit_without_4(void)
{
	struct driver *p = driver_release_without_4();
	play(p, "key from 2 3\n"
		"mix done");
	for (uint32_t k = 1; k < p->view->steps; k++)
		play(p, "state 0 k%u from 2 3\nmix done", k);
	play(p, "close done\n"
		"challenge from 2 3\n"
		"checksum done\n"
		"checksum from 2 3\n"
		"durable signs\n"
		"digest d8 from 4 ->\n"
		"digest from 2\n"
		"accept done\n"
		"durable commit -> COMMITTED, *");
	return p;
}

/* Only as many participants with another result as a commit needs show that the histories have forked. */
CASE(a_digest_of_no_participant, commit_without_4(),
     "digest d8 from 4 ->\n"
     "digest d8 of 4 from 2 ->\n"
     "digest from 4 ->\n"
     "digest from 3 ->\n"
     "digest d8 from 3 -> REJECTED 3: has signed another result of this view\n"
     "digest d8 of 4 from 2 ->\n"
     "digest d9 from 2 ->\n"
     "digest d8 from 2 -> *DIVERGED 2, stop -7")

/* A participant that is still open in the round that has committed gets all digests at once. */
CASE(digests_for_the_open, commit_without_4(),
     "hello t1 training from 3 ->\n"
     "hello t1 open from 3 -> digest to 3, digest to 3")

/* The participants are known after a restart, too. */
TEST(participants_after_a_restart)
{
	struct driver *p = commit_without_4(), *q = driver_new(4, 4);
	struct sl_round_head round;
	struct sl_certificate certificate = {.t = 1, .a = 1, .view = {9}, .digest = {7}, .round = &round};
	uint32_t members[2 * SL_LEARNERS_MAX];
	size_t size = sl_view_bytes(p->view->n, p->view->graph.edges);
	uint8_t *bytes = malloc(size);
	sl_view_write(p->view, bytes);
	assert_int_equal(sl_view_round(&p->config.scope, bytes, size, SL_LEARNERS_MAX, members, &round),
			 SL_OK);
	q->config.committed = 1;
	q->config.previous[0] = 7;
	q->config.certificate = &certificate;
	q->config.parameters.rounds = 5;
	play(q, "link up all\n"
		"digest from 3 ->\n"
		"digest d8 from 4 ->\n"
		"digest d8 from 3 -> REJECTED 3: has signed another result of this view\n"
		"digest d8 from 2 -> *DIVERGED 2, stop -7");
	driver_free(q);
	free(bytes);
	driver_free(p);
}

static bool boast_attempts(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)j;
	if (m->kind == SL_MSG_LINK_STATE && i == sim->n - 1 && m->link_state.id == sim->ids[i]) {
		m->link_state.a = SL_ATTEMPTS_MAX;
		sl_sim_sign(sim, m);
	}
	return true;
}

/* One signer that names the last attempt can hold up a round, but ends no learner. */
TEST(a_jump_ends_no_learner)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim_options o = {.seed = 900 + seed, .learners = 5};
		o.parameters.rounds = 4;
		struct sl_sim *sim = sl_sim_new(&o);
		sim->tap = boast_attempts;
		sim->liars = true;
		sl_sim_start(sim);
		sl_sim_elapse(sim, 300000);
		for (uint32_t i = 0; i < 4; i++)
			sl_sim_expect_none(sim, i, SL_REPORT_EXHAUSTED, SL_REASON_NONE);
		sim->tap = NULL;
		sl_sim_run_until_commit(sim, 0, 4);
		sl_sim_free(sim);
	}
}

static void refuse_attempt(struct driver *p, sl_attempt a)
{
	if (a == 1)
		driver_agree(p);
	else
		play(p, "link state a%u from 2 -> *compute analysis*", a);
	play(p, "analysis done\n"
		"encode done\n"
		"share done\n"
		"share 0 from 2 -> *compute gather*\n"
		"gather failed -> *FAILED bad share 2*\n"
		"commitment done"); /* late */
}

/* Pass the time until the next attempt begins. */
static sl_ms pause_of(struct driver *p)
{
	sl_ms since = p->now;
	while (!driver_says(p, "AGREE")) {
		assert_true(p->now < since + 60000);
		play(p, "deadline +10");
	}
	return p->now - since;
}

TEST(refusals_back_off)
{
	struct driver *p = driver_new(2, 4);
	sl_ms last = 0;
	for (sl_attempt a = 1; a <= 7; a++) {
		refuse_attempt(p, a);
		sl_ms pause = pause_of(p);
		assert_true(pause + 10 >= last);
		assert_true(pause >= UINT64_C(250) << (a - 1) && pause <= (UINT64_C(500) << (a - 1)) + 10);
		last = pause;
	}
	driver_free(p);
}

/* Spoil the shares of 0 for 1 in the first attempts of each round. */
static bool spoil_shares(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)sim;
	if (m->kind == SL_MSG_SHARE && i == 0 && j == 1 && m->chunk.a <= (m->chunk.t == 1 ? 5 : 1))
		memset((uint8_t *)(uintptr_t)m->chunk.bytes, 0xff, m->chunk.size);
	return true;
}

/* Return the time from a refusal of learner 1 to its next attempt, in us. */
static uint64_t pause_after(struct sl_sim *sim, const struct sl_sim_note *failed)
{
	for (const struct sl_sim_note *note = failed; note < sim->notes + sim->note_count; note++)
		if (note->learner == 1 && note->report.kind == SL_REPORT_PHASE &&
		    note->report.phase == SL_PHASE_AGREE)
			return note->at - failed->at;
	sl_sim_fail(sim, "no attempt after a refusal");
}

TEST(refusals_until_a_commit)
{
	struct sl_sim_options o = {.seed = 1, .learners = 2, .parameters = {.rounds = 2}};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->tap = spoil_shares;
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, 2);
	uint64_t longest[3] = {0};
	for (size_t k = 0; k < sim->note_count; k++) {
		const struct sl_sim_note *note = &sim->notes[k];
		if (note->learner != 1 || note->report.reason != SL_REASON_BAD_SHARE)
			continue;
		uint64_t pause = pause_after(sim, note);
		longest[note->report.t] = pause > longest[note->report.t] ? pause : longest[note->report.t];
	}
	assert_true(longest[1] >= 1000000);
	assert_true(longest[2] > 0 && longest[2] <= 501000);
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

/* --- a Hello of a later round --- */

static struct driver *overtaken(void)
{
	struct driver *p = driver_new(3, 4);
	play(p, "link up 2 3\n"
		"hello t1 ready from 2\n"
		"hello t5 ready from 3 ->\n"
		"trained -> DISCOVER, links 2 3, hello t1 ready to 2 3, CATCHUP, request t0 0 to 3\n"
		"deadline +10000 -> WAITING 3, DISCOVER, wipe, links 2 3, hello t1 ready to 2 3\n"
		"deadline +10000 -> BEHIND 3, WAITING 3");
	return p;
}

CASE(ahead_and_not_needed, overtaken(),
     "deadline +50000 -> *AGREE, link state of 1 a1 to 2 3*\n"
     "link state of 2 a1 names 1 from 2 -> compute analysis, link state of 2 a1 to 3")

/* Back over the same link, it lies. */
CASE(ahead_and_back, overtaken(),
     "hello t1 ready from 3 -> REJECTED 3: a hello of another start, or of an earlier round, over one link\n"
     "hello t2 i2 ready from 2 -> REJECTED 2: a hello of another start, or of an earlier round, over one "
     "link")

/* Over another link, its disk may have been set back: once. */
TEST(ahead_and_corrected)
{
	struct driver *p = overtaken();
	struct sl_core_peer peer;
	play(p, "link down 3 -> *AGREE*\n"
		"link up 3\n"
		"hello t1 ready from 3");
	sl_core_peer(p->core, 2, &peer);
	assert_int_equal(peer.left_out, 0);
	play(p, "hello t2 training from 3\n"
		"link down 3\n"
		"link up 3\n"
		"hello t1 ready from 3");
	sl_core_peer(p->core, 2, &peer);
	assert_int_equal(peer.left_out, 1);
	driver_free(p);
}

static bool boast(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)j;
	if (m->kind == SL_MSG_HELLO && i == sim->n - 1)
		m->hello.t += 4;
	return true;
}

TEST(ahead_of_a_cluster)
{
	struct sl_sim_options o = {.seed = 2, .learners = 4};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->learners[3].silent = true;
	sim->tap = boast;
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, 1);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(
			sl_sim_expect(sim, i, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.committed.learners,
			3);
	assert_int_equal(sl_sim_expect(sim, 0, SL_REPORT_BEHIND, SL_REASON_NONE)->report.peer, 3);
	sl_sim_free(sim);
}

/* --- digests and Readys --- */

CASE(digest_of_no_view, driver_new(3, 4),
     "link up 2\n"
     "digest v0 d8 from 2 ->\n"
     "trained -> DISCOVER, *")

static struct driver *metropolis(void)
{
	struct driver *p = driver_new(3, 4);
	p->config.parameters.mixing = SL_ENGINE_METROPOLIS;
	return driver_ready(p);
}

/* A K above 2 * 3 + 16 is as good as no Ready. */
CASE(k_in_proportion, metropolis(),
     "ready k22 from 2\n"
     "ready from 3\n"
     "check done\n"
     "check done -> *RELEASE*")

CASE(k_out_of_proportion, metropolis(),
     "ready from 2\n"
     "ready of 3 a1 k23 from 3 -> ready of 3 a1 to 2\n"
     "deadline +59999 -> WAITING 3\n"
     "deadline +1 -> *RECOVERING stalled 3, *")

/* --- silent peers --- */

CASE(quorum_names_the_missing, driver_new(5, 4),
     "link up 2\n"
     "hello t1 ready from 2\n"
     "link down 3 4 5\n"
     "trained\n"
     "link state names 1 from 2 -> FAILED quorum 2 of 3, missing 3 4 5, wipe, DISCOVER, links 2 3 4 5, hello "
     "t1 ready to 2")

/* 3, 4 and 5 neither link nor refuse to: they may be there or not. A first word is waited for four times as
 * long as others. */
CASE(silence_is_waited_for, driver_new(5, 4),
     "link up 2\n"
     "hello t1 ready from 2\n"
     "trained -> DISCOVER, links 2 3 4 5, hello t1 ready to 2\n"
     "deadline +7999 ->\n"
     "deadline +1 -> AGREE, link state of 1 a1 to 2")

/* 3 was heard before its link fell. */
CASE(silence_after_a_word, driver_new(4, 4),
     "link up 2 3 4\n"
     "hello t1 training from 3 4\n"
     "link down 3\n"
     "link state names 3 1 from 2\n" /* it is dialled again */
     "hello t1 ready from 2 4\n"
     "trained -> DISCOVER, *\n"
     "deadline +1999 ->\n"
     "deadline +1 -> AGREE, link state of 1 a1 to 2 4")

/* On a line, the last learner has the largest id: others dial it, and it never learns that they cannot. */
TEST(silence_at_the_end_of_a_line)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim_options o = {
			.seed = seed, .learners = 6, .topology = "line", .parameters = {.quorum = 6}};
		struct sl_sim *sim = sl_sim_new(&o);
		for (uint32_t i = 1; i < 6; i++)
			for (uint32_t j = 0; j < i; j++)
				sl_sim_link(sim, i, j)->refused =
					!sl_sim_link(sim, i, j)->possible; /* is not told */
		sl_sim_start(sim);
		sl_sim_run_until_round(sim, 1);
		assert_int_equal(
			sl_sim_expect(sim, 5, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.committed.learners,
			6);
		sl_sim_run_until_done(sim);
		sl_sim_free(sim);
	}
}

/* 2 names 3, which did not answer: 3 is dialled again, and waited for. */
CASE(a_named_peer_is_alive, driver_new(3, 4),
     "link up 2\n"
     "link down 3\n"
     "link state from 2 -> links 2 3\n"
     "link state a2 from 2 ->\n" /* it is being dialled */
     "hello t1 ready from 2\n"
     "trained -> DISCOVER, links 2 3, hello t1 ready to 2\n"
     "deadline +1999 ->\n"
     "link up 3 -> hello t1 ready to 3*\n"
     "hello t1 ready from 3 -> AGREE, link state of 1 a2 to 2 3")

CASE(a_named_peer_does_not_answer, driver_new(3, 4),
     "link up 2\n"
     "link down 3\n"
     "link state from 2\n"
     "hello t1 ready from 2\n"
     "trained\n"
     "deadline +8000 -> AGREE, link state of 1 a1 to 2")

/* Let i dial j; neither is told. */
static void make_diallable(struct sl_sim *sim, uint32_t i, uint32_t j)
{
	sl_sim_link(sim, i, j)->cut = sl_sim_link(sim, i, j)->refused = false;
}

/* Three are started one after the other. The third links to the second before it links to the first, which
 * has stopped dialling. */
TEST(three_by_hand)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim_options o = {.seed = 600 + seed, .learners = 3, .parameters = {.quorum = 3}};
		struct sl_sim *sim = sl_sim_new(&o);
		sl_sim_cut(sim, 0, 2);
		sl_sim_cut(sim, 1, 2);
		sl_sim_start(sim);
		sl_sim_run_until_report(sim, 0, SL_REPORT_FAILED, SL_REASON_QUORUM);
		sl_sim_elapse(sim, 20000);
		sl_sim_restore(sim, 1, 2);
		while (!sl_sim_link(sim, 1, 2)->up)
			sl_sim_step(sim);
		make_diallable(sim, 0, 2);
		sl_sim_run_until_round(sim, 1);
		const struct sl_sim_note *note = sl_sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE);
		if (note->report.committed.edges != 3)
			sl_sim_fail(sim, "%u edges", note->report.committed.edges);
		sl_sim_run_until_done(sim);
		sl_sim_free(sim);
	}
}
