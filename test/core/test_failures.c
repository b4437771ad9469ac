/* Attempts that fail: the reason is reported, and a later attempt commits (ROUND.md §7.2 Rounds, attempts,
 * and the end of an attempt). */
#include "test/lib/test.h"
#include "test/simulator/check.h"
#include "test/core/verbs.h"

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

/* Cut a link of learner 1 in `phase` of the first attempt; return what it reports. */
static const struct sl_sim_note *cut_in(struct sl_sim *sim, enum sl_phase phase, enum sl_report_kind kind,
					enum sl_reason reason)
{
	sl_sim_run_until_phase(sim, 1, phase);
	sl_sim_cut(sim, 1, 2);
	return sl_sim_run_until_report(sim, 1, kind, reason);
}

/* Some commit; the others may fetch the result. */
static void expect_commit(struct sl_sim *sim, uint32_t learners, bool first)
{
	uint32_t commits = 0;
	sl_sim_run_until_round(sim, 1);
	for (uint32_t i = 0; i < learners; i++) {
		const struct sl_sim_note *note = sl_sim_find(sim, i, SL_REPORT_COMMITTED, SL_REASON_NONE);
		if (note == NULL)
			continue;
		assert_int_equal(note->report.committed.learners, learners);
		assert_int_equal(note->report.a == 1, first);
		commits++;
	}
	assert_true(commits >= 2); /* c + 1 signed the result */
	for (uint32_t i = 0; i < learners; i++)
		sl_sim_expect_none(sim, i, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
	end(sim);
}

/* Before the release the attempt ends, and the next one commits with the same models. */
TEST(cut_before_release)
{
	static const struct {
		enum sl_phase phase;
		const char *topology;
	} cases[] = {{SL_PHASE_AGREE, "complete"}, {SL_PHASE_SHARE, "complete"}, {SL_PHASE_SHARE, "ring"}};
	for (uint64_t k = 0; k < 60; k++) {
		struct sl_sim *sim = begin(100 + k / 3, 5, cases[k % 3].topology);
		const struct sl_sim_note *note =
			cut_in(sim, cases[k % 3].phase, SL_REPORT_FAILED, SL_REASON_LINK);
		assert_int_equal(note->report.peer, 2);
		assert_int_equal(note->report.phase, cases[k % 3].phase);
		expect_commit(sim, 5, false);
	}
}

/* Between the shares and the first states a link is not needed; if its other end still shares, that end
 * aborts. */
TEST(cut_in_ready)
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

/* No half of the line is a quorum. */
TEST(cut_until_restored)
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

/* After the release the attempt is finished without mixing. */
TEST(cut_in_mix)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim *sim = begin(300 + seed, 6, "ring");
		cut_in(sim, SL_PHASE_MIX, SL_REPORT_RECOVERING, SL_REASON_LINK);
		expect_commit(sim, 6, true);
	}
}

TEST(cut_in_confirm)
{
	struct sl_sim *sim = begin(1, 5, "ring");
	sl_sim_run_until_phase(sim, 1, SL_PHASE_CONFIRM);
	sl_sim_run_until_phase(sim, 2, SL_PHASE_CONFIRM); /* it has learner 1's last state */
	sl_sim_cut(sim, 1, 2);
	expect_commit(sim, 5, true);
}

/* --- late, silent and absent peers --- */

TEST(straggler)
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

TEST(silent_peer)
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

TEST(absent_peer)
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

/* --- the barrier --- */

static bool lose_ready(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)j;
	return !(m->kind == SL_MSG_READY && i == 2 && m->ready.id == sim->ids[2] && m->ready.a == 1);
}

/* The Ready of learner 2 is lost: it alone releases. The Aborts of the others end the attempt. */
TEST(ready_lost)
{
	struct sl_sim_options o = {.seed = 10, .learners = 5, .topology = "complete", .parameters.quorum = 5};
	struct sl_sim *sim = sl_sim_new(&o);
	sl_sim_start(sim);
	sim->tap = lose_ready;
	sl_sim_run_until_round(sim, 1);
	sl_sim_expect(sim, 2, SL_REPORT_OVER, SL_REASON_NONE);
	for (uint32_t i = 0; i < 5; i++)
		sl_sim_expect_none(sim, i, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
	assert_int_equal(committed_learners(sim, 2), 5);
	end(sim);
}

/* --- a loss --- */

/* Return true if each learner but `lost` has committed another round than when `before` was noted. */
static bool all_went_on(const struct sl_sim *sim, uint32_t lost, const sl_round *before)
{
	for (uint32_t i = 0; i < sim->n; i++)
		if (i != lost && sim->learners[i].host.committed == before[i])
			return false;
	return true;
}

static void lose_one(uint64_t seed)
{
	struct sl_sim_options o = {.seed = seed, .learners = 7, .parameters = {.rounds = 9, .n = 100}};
	struct sl_sim *sim = sl_sim_new(&o);
	sl_round before[7];
	uint32_t lost = (uint32_t)(seed % 7);
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, 1);
	uint64_t at = sim->now + seed * UINT64_C(0x9e3779b97f4a7c15) % 1500000;
	while (sl_sim_next(sim) < at)
		sl_sim_step(sim);
	for (uint32_t i = 0; i < sim->n; i++)
		before[i] = sim->learners[i].host.committed;
	sl_sim_lose_power(sim, lost, seed % 2 == 0 ? 0 : 6000);
	sim->learners[lost].lost = true;
	while (!all_went_on(sim, lost, before)) {
		sl_sim_step(sim);
		if (sim->now > at + (sim->learners[0].host.config.stall_timeout_ms + 2000) * UINT64_C(1000))
			sl_sim_fail(sim,
				    "without learner %u, the others need more than 2 s beyond stall_timeout",
				    sim->ids[lost]);
	}
	sl_sim_free(sim);
}

/* One learner is lost at a random moment of a round, and the others notice it at once or after six seconds. A
 * round takes about a second. */
TEST(a_loss_costs_stall_timeout)
{
	for (uint64_t seed = 1; seed <= 140; seed++)
		lose_one(seed);
}
