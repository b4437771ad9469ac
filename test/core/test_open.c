/* A released attempt is finished, or stays open until it is known that nobody can complete it (PROTOCOL.md §9
 * Abort, safety rule, reuse rule): wherever links fall after release, two models of one round are never
 * committed, and once everybody is back they all go on. The checker looks at every Ready and at every commit.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/lib/test.h"
#include "tools/sim/check.h"

static struct sl_sim *begin_with(uint64_t seed, uint32_t learners, const char *topology, uint64_t quorum)
{
	struct sl_sim_options o = {.seed = seed, .learners = learners, .topology = topology};
	o.parameters.rounds = 300;
	o.parameters.quorum = quorum;
	struct sl_sim *sim = sl_sim_new(&o);
	sl_sim_start(sim);
	return sim;
}

static void restore_all(struct sl_sim *sim)
{
	for (uint32_t i = 0; i < sim->n; i++)
		for (uint32_t j = i + 1; j < sim->n; j++)
			if (sl_sim_link(sim, i, j)->cut)
				sl_sim_restore(sim, i, j);
}

static bool committed_by(const struct sl_sim *sim, uint32_t first, uint32_t last, sl_round t)
{
	for (uint32_t i = first; i <= last; i++)
		if (sim->learners[i].host.committed < t)
			return false;
	return true;
}

static struct sl_sim *begin(uint64_t seed, uint32_t learners, const char *topology)
{
	return begin_with(seed, learners, topology, 0);
}

/* --- the fork that would be --- */

/* Learner 0 has the result, and loses its link; the others lose theirs before they have it, and are a quorum
 * by themselves. False: with this seed somebody else had it too. */
static bool tempt(struct sl_sim *sim)
{
	sl_sim_run_until_phase(sim, 0, SL_PHASE_CONFIRM);
	for (uint32_t i = 0; i < 4; i++)
		sl_sim_cut(sim, i, i + 1);
	sl_sim_elapse(sim, 500);
	bool alone = true;
	for (uint32_t i = 1; i < 5; i++)
		alone &= sim->learners[i].host.committed == 0;
	for (uint32_t i = 1; i < 4; i++)
		sl_sim_restore(sim, i, i + 1);
	return alone;
}

/* Its neighbour has its masked state: they come to the same result without it. The checker compares. */
TEST(test_the_fork)
{
	uint32_t tried = 0;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct sl_sim *sim = begin(2000 + seed, 5, "line");
		if (tempt(sim)) {
			tried++;
			sl_sim_elapse(sim, 100000);
			assert_true(committed_by(sim, 0, 4, 1));
			for (uint32_t i = 0; i < 5; i++)
				sl_sim_expect_none(sim, i, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
			assert_int_equal(sl_sim_expect(sim, 2, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.a,
					 1);
			sl_sim_restore(sim, 0, 1);
			sl_sim_run_until_round(sim, 3);
		}
		sl_sim_free(sim);
	}
	assert_true(tried >= 10);
}

/* --- the one thing that blocks --- */

/* Learner 4 is gone for good after its Ready, and nobody has its masked state. */
static struct sl_sim *lose_for_good(uint64_t seed, uint64_t quorum)
{
	struct sl_sim *sim = begin_with(seed, 5, "complete", quorum);
	sl_sim_run_until_phase(sim, 4, SL_PHASE_RELEASE);
	sl_sim_crash(sim, 4);
	for (uint32_t i = 0; i < 4; i++)
		sl_sim_run_until_phase(sim, i, SL_PHASE_RECOVER);
	sl_sim_elapse(sim, 100000);
	for (uint32_t i = 0; i < 4; i++) {
		const struct sl_sim_note *note = NULL;
		assert_true(sl_sim_count(sim, i, SL_REPORT_WAITING, SL_REASON_NONE, &note) > 0);
		assert_int_equal(note->report.phase, SL_PHASE_RECOVER);
		assert_int_equal(note->set, 1 << 4); /* it is named */
		assert_int_equal(sim->learners[i].host.committed, 0);
	}
	return sim;
}

TEST(test_it_comes_back)
{
	struct sl_sim *sim = lose_for_good(2500, 0);
	sl_sim_restart(sim, 4);
	sl_sim_run_until_round(sim, 1);
	assert_int_equal(
		sl_sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.committed.learners, 5);
	sl_sim_expect_none(sim, 0, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
	sl_sim_run_until_round(sim, 3);
	sl_sim_free(sim);
}

TEST(test_operator_abort)
{
	struct sl_sim *sim = lose_for_good(2501, 0);
	for (uint32_t i = 0; i < 4; i++) {
		sl_sim_deliver(
			sim, i,
			&(struct sl_event){.kind = SL_EVENT_OPERATOR_ABORT, .round = 2}); /* not this one */
		assert_int_equal(sim->learners[i].host.phase, SL_PHASE_RECOVER);
		sim->learners[i].aborted_by_operator = true;
		sl_sim_deliver(sim, i, &(struct sl_event){.kind = SL_EVENT_OPERATOR_ABORT, .round = 1});
		assert_int_equal(sl_sim_expect(sim, i, SL_REPORT_CLOSED, SL_REASON_NONE)->report.peer,
				 SL_NOBODY);
		sl_sim_expect(sim, i, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
	}
	for (uint32_t i = 0; i < 4; i++)
		sl_sim_run_until_commit(sim, i, 1);
	assert_int_equal(
		sl_sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.committed.learners, 4);
	sl_sim_restart(sim, 4); /* it had not committed: it catches up */
	sl_sim_run_until_round(sim, 4);
	sl_sim_free(sim);
}

/* Everybody has to take part: the one that was lost comes back to an attempt that the others have given up,
 * and hears it. */
TEST(test_back_after_operator_abort)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim *sim = lose_for_good(2520 + seed, 5);
		for (uint32_t i = 0; i < 4; i++) {
			sim->learners[i].aborted_by_operator = true;
			sl_sim_deliver(sim, i,
				       &(struct sl_event){.kind = SL_EVENT_OPERATOR_ABORT, .round = 1});
		}
		sl_sim_elapse(sim, 5000);
		sl_sim_restart(sim, 4);
		sl_sim_run_until_round(sim, 2);
		assert_int_equal(
			sl_sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.committed.learners,
			5);
		sl_sim_free(sim);
	}
}

/* --- random cuts after release --- */

/* Some of the links, and for some time. */
static void cut_some(struct sl_sim *sim, uint64_t *random)
{
	uint64_t percent = 20 + sl_sim_random(random) % 80;
	for (uint32_t i = 0; i < sim->n; i++)
		for (uint32_t j = i + 1; j < sim->n; j++)
			if (sl_sim_random(random) % 100 < percent)
				sl_sim_cut(sim, i, j);
	sl_sim_elapse(sim, sl_sim_random(random) % 1500);
	for (uint32_t i = 0; i < sim->n; i++)
		for (uint32_t j = i + 1; j < sim->n; j++)
			if (sl_sim_link(sim, i, j)->cut && sl_sim_random(random) % 2 == 0)
				sl_sim_restore(sim, i, j);
}

static sl_round furthest(const struct sl_sim *sim)
{
	sl_round most = 0;
	for (uint32_t i = 0; i < sim->n; i++)
		most = sim->learners[i].host.committed > most ? sim->learners[i].host.committed : most;
	return most;
}

TEST(test_random_cuts)
{
	static const char *const topologies[] = {"line", "ring", "complete", "star"};
	static const enum sl_phase phases[] = {SL_PHASE_MIX, SL_PHASE_CONFIRM, SL_PHASE_MIX, SL_PHASE_COMMIT};
	uint32_t model_invalidated = 0, recovered = 0;
	uint64_t longest = 0;
	for (uint64_t seed = 0; seed < 500; seed++) {
		struct sl_sim *sim = begin(3000 + seed, 4 + (uint32_t)(seed % 4), topologies[seed / 2 % 4]);
		uint64_t random = seed;
		sl_sim_run_until_phase(sim, (uint32_t)(sl_sim_random(&random) % sim->n), phases[seed % 4]);
		sl_sim_elapse(sim, sl_sim_random(&random) % 60);
		for (uint32_t faults = 0; faults < 3; faults++) {
			cut_some(sim, &random);
			sl_sim_elapse(sim, sl_sim_random(&random) % 3000);
		}
		restore_all(sim);
		uint64_t since = sim->now;
		sl_sim_run_until_round(sim, furthest(sim) + 2);
		longest = sim->now - since > longest ? sim->now - since : longest;
		for (uint32_t i = 0; i < sim->n; i++) {
			model_invalidated +=
				sl_sim_count(sim, i, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE, NULL);
			recovered += sl_sim_count(sim, i, SL_REPORT_RECOVERED, SL_REASON_NONE, NULL);
		}
		sl_sim_free(sim);
	}
	assert_true(recovered > 500 && model_invalidated < 50);
	assert_true(longest < 60000000);
}

/* What it released, or was about to, it finds on its disk. */
TEST(test_a_crash)
{
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct sl_sim *sim = begin(2200 + seed, 5, seed % 2 ? "ring" : "complete");
		uint64_t random = seed;
		uint32_t who = (uint32_t)(sl_sim_random(&random) % 5);
		sl_sim_run_until_phase(sim, who, SL_PHASE_MIX);
		sl_sim_elapse(sim, sl_sim_random(&random) % 100);
		sl_sim_crash(sim, who);
		sl_sim_elapse(sim, sl_sim_random(&random) % 3000);
		sl_sim_restart(sim, who);
		sl_sim_run_until_round(sim, furthest(sim) + 2);
		sl_sim_free(sim);
	}
}
