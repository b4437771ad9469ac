/* Attempts that fail: why is said clearly, nothing leaks, and a later attempt commits. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/lib/test.h"
#include "tools/sim/check.h"

static struct sl_sim *begin(uint64_t seed, uint32_t learners, const char *topology)
{
	struct sl_sim_options o = {.seed = seed, .learners = learners, .topology = topology};
	struct sl_sim *sim = sl_sim_new(&o);
	sl_sim_start(sim);
	return sim;
}

static void end(struct sl_sim *sim)
{
	sl_sim_run_until_round(sim, 1);
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

static uint64_t committed_learners(struct sl_sim *sim, uint32_t i)
{
	return sl_sim_expect(sim, i, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.committed.learners;
}

/* --- links --- */

static void cut_in(enum sl_phase phase, const char *topology)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim *sim = begin(100 + seed, 5, topology);
		sl_sim_run_until_phase(sim, 1, phase);
		sl_sim_cut(sim, 1, 2);
		const struct sl_sim_note *note =
			sl_sim_run_until_report(sim, 1, SL_REPORT_FAILED, SL_REASON_LINK);
		assert_int_equal(note->report.peer, 2);
		assert_int_equal(note->report.phase, phase);
		sl_sim_expect_none(sim, 1, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
		sl_sim_run_until_round(sim, 1);
		assert_int_equal(committed_learners(sim, 1), 5);
		assert_true(sl_sim_expect(sim, 1, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.a >= 2);
		end(sim);
	}
}

TEST(test_cut_in_agree)
{
	cut_in(SL_PHASE_AGREE, "complete");
}

TEST(test_cut_in_share)
{
	cut_in(SL_PHASE_SHARE, "complete");
	cut_in(SL_PHASE_SHARE, "ring");
}

/* Between the shares and the first states a link is not needed; if its other end still shared, that one
 * Aborts. */
TEST(test_cut_in_ready)
{
	uint32_t first = 0;
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct sl_sim *sim = begin(100 + seed, 5, seed % 2 ? "ring" : "complete");
		sl_sim_run_until_phase(sim, 1, SL_PHASE_READY);
		sl_sim_cut(sim, 1, 2);
		uint64_t since = sim->now;
		sl_sim_run_until_round(sim, 1);
		assert_true(sim->now < since + 20000000);
		const struct sl_sim_note *note = sl_sim_find(sim, 1, SL_REPORT_COMMITTED, SL_REASON_NONE);
		first += note != NULL && note->report.a == 1;
		for (uint32_t i = 0; i < 5; i++)
			sl_sim_expect_none(sim, i, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
		end(sim);
	}
	assert_true(first >= 10);
}

/* The line falls apart, neither half is a quorum, and waits for the link. */
TEST(test_cut_until_restored)
{
	static const enum sl_phase phases[] = {SL_PHASE_AGREE, SL_PHASE_SHARE, SL_PHASE_READY};
	for (size_t k = 0; k < 3; k++) {
		struct sl_sim *sim = begin(200 + k, 4, "line");
		sl_sim_run_until_phase(sim, 1, phases[k]);
		sl_sim_cut(sim, 1, 2);
		const struct sl_sim_note *note =
			sl_sim_run_until_report(sim, 1, SL_REPORT_FAILED, SL_REASON_QUORUM);
		assert_int_equal(note->report.why.quorum.learners, 2);
		assert_int_equal(note->report.why.quorum.quorum, 3);
		sl_sim_elapse(sim, 40000);
		assert_int_equal(sim->learners[0].host.committed, 0);
		sl_sim_restore(sim, 1, 2);
		end(sim);
	}
}

/* After release it goes on without mixing: everybody's model counts, and none is trained again. */
TEST(test_cut_in_mix)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim *sim = begin(300 + seed, 6, "ring");
		sl_sim_run_until_phase(sim, 1, SL_PHASE_MIX);
		sl_sim_cut(sim, 1, 2);
		sl_sim_run_until_report(sim, 1, SL_REPORT_RECOVERING, SL_REASON_LINK);
		sl_sim_run_until_round(sim, 1);
		assert_int_equal(committed_learners(sim, 1), 6);
		assert_int_equal(sl_sim_expect(sim, 1, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.a, 1);
		for (uint32_t i = 0; i < 6; i++)
			sl_sim_expect_none(sim, i, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
		end(sim);
	}
}

TEST(test_cut_in_confirm)
{
	struct sl_sim *sim = begin(1, 5, "ring");
	sl_sim_run_until_phase(sim, 1, SL_PHASE_CONFIRM);
	sl_sim_run_until_phase(sim, 2, SL_PHASE_CONFIRM); /* it has learner 1's last state */
	sl_sim_cut(sim, 1, 2);
	sl_sim_run_until_round(sim, 1);
	assert_int_equal(sl_sim_expect(sim, 1, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.a, 1);
	end(sim);
}

/* --- one who is late, or says nothing --- */

TEST(test_straggler)
{
	struct sl_sim_options o = {.seed = 5, .learners = 4};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->learners[3].silent = true;
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, 1);
	assert_true(sim->now >= 60000000);
	assert_int_equal(committed_learners(sim, 0), 3);
	assert_true(sl_sim_expect(sim, 0, SL_REPORT_WAITING, SL_REASON_NONE)->set & 1 << 3);
	sl_sim_free(sim);
}

static bool mute_last(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)j;
	return !(m->kind == SL_MSG_HELLO && i == sim->n - 1);
}

TEST(test_silent_peer)
{
	struct sl_sim_options o = {.seed = 6, .learners = 5};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->learners[4].silent = true;
	sim->tap = mute_last;
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, 1);
	assert_int_equal(committed_learners(sim, 0), 4);
	assert_true(sim->now >= 2000000 && sim->now < 10000000);
	sl_sim_free(sim);
}

TEST(test_absent_peer)
{
	struct sl_sim_options o = {.seed = 7, .learners = 5};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->learners[4].silent = sim->learners[4].host.stopped = true;
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, 1);
	assert_int_equal(committed_learners(sim, 0), 4);
	assert_true(sim->now < 3000000);
	sl_sim_free(sim);
}

TEST(test_quorum)
{
	struct sl_sim_options o = {.seed = 8, .learners = 5};
	struct sl_sim *sim = sl_sim_new(&o);
	for (uint32_t i = 2; i < 5; i++)
		sim->learners[i].silent = sim->learners[i].host.stopped = true;
	sl_sim_start(sim);
	const struct sl_sim_note *note = sl_sim_run_until_report(sim, 0, SL_REPORT_FAILED, SL_REASON_QUORUM);
	assert_int_equal(note->report.why.quorum.learners, 2);
	assert_int_equal(note->report.why.quorum.quorum, 3);
	assert_int_equal(note->set, 0x1c); /* who is missing */
	sl_sim_elapse(sim, 300000);
	assert_int_equal(sim->learners[0].host.committed, 0);
	assert_null(sim->attempts);	/* not even a view */
	assert_true(sim->steps < 2000); /* it pauses between its tries */
	sl_sim_free(sim);
}

/* --- the barrier --- */

static bool nothing_released(const struct sl_sim *sim)
{
	for (const struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		for (size_t k = 0; k < (size_t)sim->n * page->chunks; k++)
			if (page->out[k] >= 0)
				return false;
	return true;
}

static const struct sl_sim_note *first_failure(struct sl_sim *sim)
{
	for (size_t k = 0;; k++) {
		while (k >= sim->note_count)
			if (!sl_sim_step(sim))
				sl_sim_fail(sim, "nothing failed");
		if (sim->notes[k].report.kind == SL_REPORT_FAILED)
			return &sim->notes[k];
	}
}

TEST(test_ready_withheld)
{
	struct sl_sim *sim = begin(9, 4, "complete");
	sim->learners[2].stuck = SL_JOB_COMMITMENT;
	const struct sl_sim_note *note = first_failure(sim);
	assert_int_equal(note->report.reason, SL_REASON_STALLED);
	assert_int_equal(note->report.phase, SL_PHASE_READY);
	assert_int_equal(note->set, 1 << 2);
	assert_true(sim->now >= 60000000);
	assert_true(nothing_released(sim));
	sim->learners[2].stuck = 0;
	sl_sim_run_until_round(sim, 1);
	sl_sim_expect_none(sim, 0, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
	end(sim);
}

static bool lose_ready(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)j;
	return !(m->kind == SL_MSG_READY && i == 2 && m->ready.id == sim->ids[2] && m->ready.a == 1);
}

/* Its Ready is lost on the way: it alone releases. The others give the attempt up, and there are enough of
 * them. */
TEST(test_ready_lost)
{
	struct sl_sim *sim = begin(10, 4, "complete");
	sim->tap = lose_ready;
	sl_sim_run_until_round(sim, 1);
	sl_sim_expect(sim, 2, SL_REPORT_CLOSED, SL_REASON_NONE);
	for (uint32_t i = 0; i < 4; i++)
		sl_sim_expect_none(sim, i, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
	assert_int_equal(committed_learners(sim, 2), 4);
	end(sim);
}

TEST(test_silence_in_mix)
{
	struct sl_sim *sim = begin(11, 4, "ring");
	sl_sim_run_until_phase(sim, 1, SL_PHASE_MIX);
	sl_sim_hold(sim, 1, 2);
	const struct sl_sim_note *note =
		sl_sim_run_until_report(sim, 2, SL_REPORT_RECOVERING, SL_REASON_STALLED);
	assert_true(note->set & 1 << 1);
	sl_sim_release(sim, 1, 2); /* late: it is added up otherwise by now */
	sl_sim_run_until_round(sim, 1);
	end(sim);
}

/* --- what peers should not say --- */

static bool once;

static bool spoil_share(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)sim;
	if (m->kind == SL_MSG_SHARE && i == 0 && j == 1 && !once) {
		once = true;
		memset((uint8_t *)(uintptr_t)m->chunk.bytes, 0xff, m->chunk.size);
	}
	return true;
}

TEST(test_bad_share)
{
	once = false;
	struct sl_sim *sim = begin(12, 4, "ring");
	sim->tap = spoil_share;
	const struct sl_sim_note *note =
		sl_sim_run_until_report(sim, 1, SL_REPORT_FAILED, SL_REASON_BAD_SHARE);
	assert_int_equal(note->report.peer, 0);
	sl_sim_run_until_round(sim, 1);
	assert_true(sl_sim_expect(sim, 1, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.a >= 2);
	end(sim);
}

static bool lie_in_digest(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (m->kind == SL_MSG_DIGEST && i == 0 && j == 1) {
		m->digest.digest[5] ^= 1;
		sl_sim_sign(sim, m);
	}
	return true;
}

TEST(test_diverged)
{
	struct sl_sim *sim = begin(13, 4, "ring");
	sim->tap = lie_in_digest;
	sl_sim_run_until_stopped(sim, 1, SL_ERR_REFUSED);
	assert_int_equal(sl_sim_expect(sim, 1, SL_REPORT_DIVERGED, SL_REASON_NONE)->report.peer, 0);
	sl_sim_expect_none(sim, 1, SL_REPORT_COMMITTED, SL_REASON_NONE);
	assert_int_equal(sim->learners[1].host.committed, 0);
	sl_sim_free(sim);
}

/* To 1 it names one candidate fewer than to the others; 1 hears of both. */
static bool equivocate(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (m->kind == SL_MSG_LINK_STATE && i == 0 && j == 1 && m->link_state.a == 1 &&
	    m->link_state.id == sim->ids[0]) {
		m->link_state.count--;
		sl_sim_sign(sim, m);
	}
	return true;
}

TEST(test_equivocation)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim *sim = begin(400 + seed, 4, "complete");
		sim->tap = equivocate;
		sim->liars = true;
		sl_sim_run_until_round(sim, 1);
		uint32_t seen = 0;
		for (uint32_t i = 0; i < 4; i++) {
			const struct sl_sim_note *note =
				sl_sim_find(sim, i, SL_REPORT_FAILED, SL_REASON_EQUIVOCATION);
			seen += note != NULL && note->report.peer == 0;
		}
		if (seen == 0)
			sl_sim_fail(sim, "nobody noticed");
		end(sim);
	}
}
