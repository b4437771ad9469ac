/* What one peer's word, or silence, cannot do. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "tools/sim/sim.h"

#define LIST(...) ((const sl_id[]){__VA_ARGS__, 0})
#define EXPECT(text, trace) assert_string_equal(trace, text)

static const char *tell_trained(struct driver *p)
{
	return tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
}

static bool says(const struct driver *p, const char *text)
{
	return strstr(p->trace.text, text) != NULL;
}

/* --- attempts --- */

TEST(test_the_last_attempt)
{
	struct driver *p = driver_new(3, 4);
	driver_share(p);
	tell_link_state(p, 2, 2, SL_ATTEMPTS_MAX, LIST(1, 3));
	assert_false(says(p, "AGREE")); /* one signer alone does not make such a leap */
	tell_link_state(p, 3, 3, SL_ATTEMPTS_MAX, LIST(1, 2));
	assert_true(says(p, "link state of 1 a16777216 to 2 3"));
	/* not once more under the same number: what was signed for it would count again */
	EXPECT("link down 3 -> FAILED link 3, wipe, EXHAUSTED, stop -10", tell_link(p, false, 3));
	driver_free(p, 0);
}

/* A Ready of an attempt that nobody else knows of is one signer's word, too. */
TEST(test_a_jump_of_a_ready)
{
	struct driver *p = driver_new(3, 4);
	tell_link(p, true, 2);
	tell_link(p, true, 3);
	tell_hello(p, 2, 1, SL_PEER_STATUS_READY);
	tell_hello(p, 3, 1, SL_PEER_STATUS_READY);
	struct sl_message m = {.kind = SL_MSG_READY,
			       .ready = {.id = 2, .t = 1, .a = SL_ATTEMPTS_MAX - 1, .k = 3, .view = {9}}};
	tell_message(p, 2, &m);
	tell_trained(p);
	assert_true(says(p, "AGREE"));
	assert_false(says(p, "link state of 1 a16777216"));
	driver_free(p, 0);
}

/* A member that claims to have given up whatever may come can hold up the round, but is not asked again and
 * again. */
TEST(test_an_abort_of_everything)
{
	struct driver *p = driver_new(3, 4);
	driver_agree(p);
	tell_abort(p, 2, 2, SL_ATTEMPTS_MAX, (const sl_attempt[]){0});
	tell_done(p, SL_JOB_ANALYSE, SL_OK);
	assert_true(says(p, "FAILED aborted 2"));
	assert_false(says(p, "AGREE"));
	driver_free(p, 0);
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

/* One signer who names the last attempt can hold up a round, as any liar can, but ends nobody. */
TEST(test_a_jump_ends_nobody)
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

/* Until the next attempt begins. */
static sl_ms pause_of(struct driver *p)
{
	sl_ms since = p->now;
	while (!says(p, "AGREE")) {
		assert_true(p->now < since + 60000);
		tell_time(p, 10);
	}
	return p->now - since;
}

static void spoil_attempt(struct driver *p, sl_attempt a)
{
	if (a == 1) {
		driver_agree(p);
	} else {
		tell_link_state(p, 2, 2, a, LIST(1));
		assert_true(says(p, "compute analysis"));
	}
	tell_done(p, SL_JOB_ANALYSE, SL_OK);
	tell_done(p, SL_JOB_ENCODE, SL_OK);
	tell_done(p, SL_JOB_SHARE, SL_OK);
	tell_payload(p, 2, SL_MSG_SHARE, 0, 0);
	assert_true(says(p, "compute gather"));
	tell_done(p, SL_JOB_GATHER, SL_ERR_INVALID);
	assert_true(says(p, "FAILED bad share 2"));
	tell_done(p, SL_JOB_COMMITMENT, SL_OK); /* late */
}

TEST(test_refusals_back_off)
{
	struct driver *p = driver_new(2, 4);
	sl_ms last = 0;
	for (sl_attempt a = 1; a <= 7; a++) {
		spoil_attempt(p, a);
		sl_ms pause = pause_of(p);
		assert_true(pause + 10 >= last);
		assert_true(pause >= UINT64_C(250) << (a - 1) && pause <= (UINT64_C(500) << (a - 1)) + 10);
		last = pause;
	}
	driver_free(p, 0);
}

/* Spoils what 0 sends to 1 in the first attempts of each round. */
static bool spoil_shares(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)sim;
	if (m->kind == SL_MSG_SHARE && i == 0 && j == 1 && m->chunk.a <= (m->chunk.t == 1 ? 5 : 1))
		memset((uint8_t *)(uintptr_t)m->chunk.bytes, 0xff, m->chunk.size);
	return true;
}

/* From a refusal of learner 1 to its next attempt. */
static uint64_t pause_after(struct sl_sim *sim, const struct sl_sim_note *failed)
{
	for (const struct sl_sim_note *note = failed; note < sim->notes + sim->note_count; note++)
		if (note->learner == 1 && note->report.kind == SL_REPORT_PHASE &&
		    note->report.phase == SL_PHASE_AGREE)
			return note->at - failed->at;
	sl_sim_fail(sim, "no attempt after a refusal");
}

TEST(test_refusals_until_a_commit)
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

/* --- a hello from ahead --- */

static struct driver *overtaken(void)
{
	struct driver *p = driver_new(3, 4);
	tell_link(p, true, 2);
	tell_link(p, true, 3);
	tell_hello(p, 2, 1, SL_PEER_STATUS_READY);
	EXPECT("hello t5 ready from 3 ->", tell_hello(p, 3, 5, SL_PEER_STATUS_READY));
	EXPECT("trained -> DISCOVER, links 2 3, hello t1 ready to 2 3, CATCHUP, request t0 0 to 3, link "
	       "state of "
	       "1 a1 to 2 3",
	       tell_trained(p));
	EXPECT("deadline -> WAITING 3, DISCOVER, wipe, links 2 3, hello t1 ready to 2 3",
	       tell_time(p, 10000));
	EXPECT("deadline -> BEHIND 3, WAITING 3", tell_time(p, 10000));
	return p;
}

TEST(test_ahead_and_not_needed)
{
	struct driver *p = overtaken();
	tell_time(p, 50000);
	assert_true(says(p, "AGREE, link state of 1 a2 to 2 3"));
	EXPECT("link state of 2 a2 from 2 -> compute analysis, link state of 2 a2 to 3",
	       tell_link_state(p, 2, 2, 2, LIST(1)));
	driver_free(p, 0);
}

TEST(test_ahead_and_corrected)
{
	struct driver *p = overtaken();
	EXPECT("hello t1 ready from 3 -> QUARANTINED 3, AGREE, link state of 1 a2 to 2 3",
	       tell_hello(p, 3, 1, SL_PEER_STATUS_READY));
	driver_free(p, 0);
}

static bool boast(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)j;
	if (m->kind == SL_MSG_HELLO && i == sim->n - 1)
		m->hello.t += 4;
	return true;
}

TEST(test_ahead_of_a_cluster)
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

TEST(test_digest_of_no_view)
{
	struct driver *p = driver_new(3, 4);
	tell_link(p, true, 2);
	EXPECT("digest from 2 ->",
	       tell_message(p, 2,
			    &(struct sl_message){.kind = SL_MSG_DIGEST,
						 .digest = {.id = 2, .t = 1, .a = 1, .digest = {8}}}));
	assert_true(strstr(tell_trained(p), "DISCOVER") != NULL);
	driver_free(p, 0);
}

static const char *tell_ready_with(struct driver *p, sl_id from, uint64_t k)
{
	struct sl_message m = {.kind = SL_MSG_READY, .ready = {.id = from, .t = 1, .a = 1, .k = k}};
	memcpy(m.ready.view, p->view->h, SL_HASH_BYTES);
	return tell_message(p, from, &m);
}

static struct driver *driver_of_metropolis(void)
{
	struct driver *p = driver_build(3, 4);
	p->config.parameters.mixing = SL_ENGINE_METROPOLIS;
	driver_start(p);
	return p;
}

TEST(test_k_out_of_proportion)
{
	struct driver *p = driver_of_metropolis();
	driver_ready(p);
	tell_ready_with(p, 2, 2 * 3 + 16);
	tell_ready(p, 3, 3, 1);
	assert_true(says(p, "RELEASE"));
	driver_free(p, 0);
	p = driver_of_metropolis();
	driver_ready(p);
	tell_ready(p, 2, 2, 1);
	EXPECT("ready of 3 a1 from 3 -> ready of 3 a1 to 2",
	       tell_ready_with(p, 3, 2 * 3 + 17)); /* as good as none */
	EXPECT("deadline -> WAITING 3", tell_time(p, 59999));
	EXPECT("deadline -> FAILED stalled 3, persist aborted t1 a1, wipe, DISCOVER, links 2 3, hello t1 "
	       "ready to 2 3, AGREE, "
	       "link state of 1 a2 to 2 3",
	       tell_time(p, 1));
	driver_free(p, 0);
}

/* --- the confirm timeout --- */

TEST(test_slow_close)
{
	struct driver *p = driver_new(3, 4);
	driver_release(p);
	for (uint32_t k = 0; k < 3; k++) {
		tell_payload(p, 2, SL_MSG_STATE, 0, k);
		tell_payload(p, 3, SL_MSG_STATE, 0, k);
		tell_done(p, SL_JOB_MIX, SL_OK);
	}
	assert_true(says(p, "compute close, CONFIRM"));
	p->now += 25000; /* the own arithmetic's */
	EXPECT("close done -> digest to 2 3", tell_done(p, SL_JOB_CLOSE, SL_OK));
	EXPECT("deadline ->", tell_time(p, 9999));
	EXPECT("deadline -> WAITING 2 3, COMMIT, compute decode, persist commit t1 a1", tell_time(p, 1));
	driver_free(p, 0);
}

/* --- who is missing, who is silent, who turns up --- */

TEST(test_quorum_names_the_missing)
{
	struct driver *p = driver_new(5, 4);
	tell_link(p, true, 2);
	tell_hello(p, 2, 1, SL_PEER_STATUS_READY);
	for (sl_id id = 3; id <= 5; id++)
		tell_link(p, false, id);
	tell_trained(p);
	EXPECT("link state of 2 a1 from 2 -> FAILED quorum 2 of 3, missing 3 4 5, wipe, DISCOVER, links 2 3 "
	       "4 5, "
	       "hello t1 ready to 2",
	       tell_link_state(p, 2, 2, 1, LIST(1)));
	driver_free(p, 0);
}

/* 3, 4 and 5 neither link nor refuse to: nobody can say whether they are there. */
TEST(test_silence_holds_nobody)
{
	struct driver *p = driver_new(5, 4);
	tell_link(p, true, 2);
	tell_hello(p, 2, 1, SL_PEER_STATUS_READY);
	EXPECT("trained -> DISCOVER, links 2 3 4 5, hello t1 ready to 2", tell_trained(p));
	EXPECT("deadline ->", tell_time(p, 1999));
	EXPECT("deadline -> AGREE, link state of 1 a1 to 2", tell_time(p, 1));
	driver_free(p, 0);
}

/* A line; its last learner has the largest id, so that others dial it and it never learns that they cannot.
 */
TEST(test_silence_at_the_end_of_a_line)
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

TEST(test_somebody_is_alive)
{
	struct driver *p = driver_new(3, 4);
	tell_link(p, true, 2);
	tell_link(p, false, 3);
	EXPECT("link state of 2 a1 from 2 -> links 2 3", tell_link_state(p, 2, 2, 1, LIST(1, 3)));
	EXPECT("link state of 2 a2 from 2 ->",
	       tell_link_state(p, 2, 2, 2, LIST(1, 3))); /* is being dialled already */
	tell_hello(p, 2, 1, SL_PEER_STATUS_READY);
	EXPECT("trained -> DISCOVER, links 2 3, hello t1 ready to 2", tell_trained(p));
	EXPECT("deadline ->", tell_time(p, 1999));
	assert_non_null(strstr(tell_link(p, true, 3), "hello t1 ready to 3"));
	EXPECT("hello t1 ready from 3 -> AGREE, link state of 1 a2 to 2 3",
	       tell_hello(p, 3, 1, SL_PEER_STATUS_READY));
	driver_free(p, 0);
	p = driver_new(3, 4); /* nor for ever */
	tell_link(p, true, 2);
	tell_link(p, false, 3);
	tell_link_state(p, 2, 2, 1, LIST(1, 3));
	tell_hello(p, 2, 1, SL_PEER_STATUS_READY);
	tell_trained(p);
	EXPECT("deadline -> AGREE, link state of 1 a1 to 2", tell_time(p, 2000));
	driver_free(p, 0);
}

/* From i to j, and only so; nobody is told. */
static void make_diallable(struct sl_sim *sim, uint32_t i, uint32_t j)
{
	sl_sim_link(sim, i, j)->cut = sl_sim_link(sim, i, j)->refused = false;
}

/* Three, started by hand one after the other: the last one's link to the second stands before that to
 * the first, who has given up dialling. */
TEST(test_three_by_hand)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim_options o = {.seed = 600 + seed, .learners = 3, .parameters = {.quorum = 3}};
		struct sl_sim *sim = sl_sim_new(&o);
		sl_sim_cut(sim, 0, 2);
		sl_sim_cut(sim, 1, 2);
		sl_sim_start(sim);
		for (uint32_t k = 0; k < 4; k++)
			sl_sim_run_until_report(sim, 0, SL_REPORT_FAILED, SL_REASON_QUORUM);
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
