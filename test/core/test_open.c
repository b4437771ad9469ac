/* A released attempt is finished, without as many of its participants as their degrees tolerate, or stays
 * open until it is over (ROUND.md §9.3 Rule A, §10.4 How recovery ends). Wherever links fall, no two
 * results of a round are committed, and all go on when the links are back. The checker verifies every Ready
 * and every commit. */
#include "common/core/state.h"
#include "test/lib/test.h"
#include "test/simulator/check.h"
#include "test/core/verbs.h"

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

/* --- a result at one learner --- */

/* Learner 0 has the result and loses its link. The others lose theirs before they have it, and are a quorum.
 * Return false if another learner had the result, too. */
static bool isolate_result(struct sl_sim *sim)
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

/* Alone it cannot commit. Its neighbour has its deposit and its key: the others compute the same result. */
TEST(one_result)
{
	uint32_t tried = 0;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct sl_sim *sim = begin(2000 + seed, 5, "line");
		if (isolate_result(sim)) {
			tried++;
			sl_sim_elapse(sim, 100000);
			assert_true(committed_by(sim, 1, 4, 1));
			assert_int_equal(sim->learners[0].host.committed, 0);
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

/* --- lost participants --- */

/* Learner 4 has all Readys and is lost before or after its key has left: the others open it. */
TEST(one_is_lost)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim *sim = begin_with(2480 + seed, 5, seed % 2 ? "complete" : "ring", 4);
		sl_sim_run_until_phase(sim, 4, seed % 4 < 2 ? SL_PHASE_RELEASE : SL_PHASE_MIX);
		sl_sim_crash(sim, 4);
		uint64_t since = sim->now;
		for (uint32_t i = 0; i < 4; i++)
			sl_sim_run_until_commit(sim, i, 1);
		assert_true(sim->now - since < 30000000);
		uint32_t commits = 0; /* the others have fetched the result */
		for (uint32_t i = 0; i < 4; i++) {
			const struct sl_sim_note *note =
				sl_sim_find(sim, i, SL_REPORT_COMMITTED, SL_REASON_NONE);
			commits += note != NULL && note->report.committed.learners == 5;
		}
		assert_true(commits >= 2);
		for (uint32_t i = 0; i < 4; i++)
			sl_sim_expect_none(sim, i, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
		sl_sim_restart(sim, 4); /* it catches up */
		sl_sim_run_until_round(sim, 3);
		sl_sim_free(sim);
	}
}

/* Learners 2, 3 and 4 are lost; theta is 3, and two holders are left. */
static struct sl_sim *lose_three(uint64_t seed)
{
	struct sl_sim *sim = begin(seed, 5, "complete");
	sl_sim_run_until_phase(sim, 4, SL_PHASE_RELEASE);
	for (uint32_t i = 2; i < 5; i++)
		sl_sim_crash(sim, i);
	for (uint32_t i = 0; i < 2; i++)
		sl_sim_run_until_phase(sim, i, SL_PHASE_RECOVER);
	sl_sim_elapse(sim, 100000);
	for (uint32_t i = 0; i < 2; i++) {
		const struct sl_sim_note *note = NULL;
		assert_true(sl_sim_count(sim, i, SL_REPORT_WAITING, SL_REASON_NONE, &note) > 0);
		assert_int_equal(note->report.phase, SL_PHASE_RECOVER);
		assert_true(note->set & 1 << 4);
		assert_int_equal(sim->learners[i].host.committed, 0);
	}
	return sim;
}

TEST(one_of_three_comes_back)
{
	struct sl_sim *sim = lose_three(2500);
	sl_sim_restart(sim, 3);
	sl_sim_run_until_commit(sim, 0, 1);
	assert_int_equal(
		sl_sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.committed.learners, 5);
	sl_sim_expect_none(sim, 0, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
	sl_sim_restart(sim, 2);
	sl_sim_restart(sim, 4);
	sl_sim_run_until_round(sim, 3);
	sl_sim_free(sim);
}

/* The lost learners come back to an attempt that the others have declared over. */
TEST(operator_abort)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim *sim = lose_three(2501 + seed);
		for (uint32_t i = 0; i < 2; i++) {
			sl_sim_deliver(sim, i,
				       &(struct sl_event){.kind = SL_EVENT_OPERATOR_ABORT,
							  .round = 2}); /* another round */
			assert_int_equal(sim->learners[i].host.phase, SL_PHASE_RECOVER);
			sim->learners[i].aborted_by_operator = true;
			sl_sim_deliver(sim, i,
				       &(struct sl_event){.kind = SL_EVENT_OPERATOR_ABORT, .round = 1});
			assert_int_equal(sl_sim_expect(sim, i, SL_REPORT_OVER, SL_REASON_NONE)->report.peer,
					 SL_NOBODY);
			sl_sim_expect(sim, i, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
		}
		sl_sim_elapse(sim, 5000);
		for (uint32_t i = 2; i < 5; i++)
			sl_sim_restart(sim, i);
		sl_sim_run_until_round(sim, 2);
		sl_sim_free(sim);
	}
}

/* --- random cuts after release --- */

/* Cut some links for some time. */
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

TEST(random_cuts)
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

/* After a restart a learner may have signed a Digest only if SIGNS is on its disk. */
TEST(signed_before_a_restart)
{
	for (uint32_t signs = 0; signs <= 1; signs++) {
		struct sl_sim *sim = begin(2600, 5, "complete");
		sl_sim_run_until_phase(sim, 0, signs ? SL_PHASE_CONFIRM : SL_PHASE_MIX);
		sl_sim_isolate(sim, 0);
		if (signs)
			sl_sim_elapse(sim, 100); /* SIGNS is durable */
		sl_sim_crash(sim, 0);
		sl_sim_restart(sim, 0);
		sl_sim_run_until_phase(sim, 0, SL_PHASE_RECOVER);
		assert_int_equal(sim->learners[0].host.core->at.digested, signs);
		sl_sim_free(sim);
	}
}

/* A bound learner signs the same Abort again when it has started again: the checker compares them. */
TEST(aborted_before_a_restart)
{
	for (uint64_t seed = 2750; seed < 2760; seed++) {
		struct sl_sim *sim = begin(seed, 5, "complete");
		sl_sim_run_until_phase(sim, 1, SL_PHASE_READY);
		for (uint32_t j = 1; j < sim->n; j++)
			sl_sim_hold(sim, j, 0);
		sl_sim_run_until_phase(sim, 0, SL_PHASE_READY);
		sl_sim_elapse(sim, 1000); /* its Ready has left */
		sl_sim_deliver(sim, 0, &(struct sl_event){.kind = SL_EVENT_OPERATOR_ABORT, .round = 1});
		sl_sim_elapse(sim, 1000);
		sl_sim_crash(sim, 0);
		for (uint32_t j = 1; j < sim->n; j++)
			sl_sim_release(sim, j, 0);
		sl_sim_restart(sim, 0);
		sl_sim_run_until_commit(sim, 0, 1);
		sl_sim_free(sim);
	}
}

/* Learner 2 is lost; 1, which lacks its Ready, aborts. 0 starts again in MIX, without SIGNS on its
 * disk: it gives up, too, and both go on. */
TEST(one_is_lost_and_one_starts_again)
{
	uint32_t tried = 0;
	for (uint64_t seed = 2700; seed < 2720; seed++) {
		struct sl_sim *sim = begin(seed, 3, "complete");
		sl_sim_run_until_phase(sim, 1, SL_PHASE_READY);
		sl_sim_hold(sim, 0, 1);
		sl_sim_hold(sim, 2, 1);
		sl_sim_run_until_phase(sim, 0, SL_PHASE_MIX);
		bool lacks = sim->learners[1].host.phase == SL_PHASE_READY;
		sl_sim_crash(sim, 0);
		sl_sim_crash(sim, 2);
		sl_sim_elapse(sim, 10000);
		sl_sim_release(sim, 0, 1);
		sl_sim_restart(sim, 0);
		if (lacks) {
			sl_sim_run_until_commit(sim, 0, 1);
			sl_sim_run_until_commit(sim, 1, 1);
			sl_sim_expect(sim, 0, SL_REPORT_OVER, SL_REASON_NONE);
		}
		tried += lacks;
		sl_sim_free(sim);
	}
	assert_true(tried > 5);
}

static bool watch_signs(struct sl_sim *sim, uint32_t i, const struct sl_action *action,
			const struct sl_work *work)
{
	(void)work;
	bool *signs = sim->context;
	*signs |= i == 0 && action != NULL && action->kind == SL_ACTION_PERSIST &&
		  action->persist.what.kind == SL_PERSIST_SIGNS;
	return false;
}

/* A learner that recovers after a restart records that it signs, so that another restart tells this from MIX.
 */
TEST(signs_after_a_restart)
{
	uint32_t tried = 0;
	for (uint64_t seed = 2650; seed < 2660; seed++) {
		struct sl_sim *sim = begin(seed, 5, "complete");
		bool signs = false;
		sl_sim_run_until_phase(sim, 0, SL_PHASE_MIX);
		for (uint32_t i = 0; i < 3; i++)
			sl_sim_crash(sim, i);
		for (uint32_t i = 0; i < 3; i++)
			sl_sim_restart(sim, i);
		sim->context = &signs;
		sim->failpoint = watch_signs;
		sl_sim_run_until_commit(sim, 0, 1);
		bool fetched = sl_sim_find(sim, 0, SL_REPORT_CAUGHT_UP, SL_REASON_NONE) != NULL;
		assert_true(signs || fetched);
		tried += !fetched;
		sl_sim_free(sim);
	}
	assert_true(tried > 2);
}
