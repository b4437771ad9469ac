/* A released attempt stays open until it is known that nobody can complete it (protocol 6, rule A): wherever links fall
 * after release, two models of one round are never committed, and once everybody is back they all go on. The checker
 * looks at every Ready and at every commit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/bytes.h"
#include "test/core/check.h"

static struct sim *begin(uint64_t seed, uint32_t learners, const char *topology)
{
	struct sim_options o = {.seed = seed, .learners = learners, .topology = topology, .parameters.rounds = 300};
	struct sim *sim = sim_new(&o);
	sim_start(sim);
	return sim;
}

static void restore_all(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->n; i++)
		for (uint32_t j = i + 1; j < sim->n; j++)
			if (sim_link(sim, i, j)->cut)
				sim_restore(sim, i, j);
}

/* --- the fork that would be --- */

/* Learner 0 has the result, and loses its link; the others lose theirs before they have it, burn, and are a quorum by
 * themselves. False: with this seed somebody else had it too. */
static bool tempt(struct sim *sim)
{
	bool alone = true;
	sim_run_until_phase(sim, 0, SL_PHASE_SETTLE);
	for (uint32_t i = 0; i < 4; i++)
		sim_cut(sim, i, i + 1);
	sim_elapse(sim, 500);
	for (uint32_t i = 1; i < 5; i++)
		alone &= sim->learners[i].committed == 0 && sim_find(sim, i, SL_REPORT_BURNED, SL_REASON_NONE) != NULL;
	for (uint32_t i = 1; i < 4; i++)
		sim_restore(sim, i, i + 1);
	return alone;
}

static void expect_open(struct sim *sim, uint32_t i)
{
	const struct sim_note *note = sim_expect(sim, i, SL_REPORT_FAILED, SL_REASON_OPEN);
	assert_int_equal(note->set, 1 << 0);
	assert_int_equal(note->report.n[0], 1);
	assert_int_equal(sim->learners[i].committed, 0);
}

static void test_the_fork(void **state)
{
	(void)state;
	uint32_t tried = 0;
	for (uint64_t seed = 0; seed < sim_seeds(100); seed++) {
		struct sim *sim = begin(2000 + seed, 5, "line");
		if (tempt(sim)) {
			tried++;
			sim_elapse(sim, 100000);
			assert_int_equal(sim->learners[0].committed, 1);
			for (uint32_t i = 1; i < 5; i++)
				expect_open(sim, i);
			sim_restore(sim, 0, 1);
			sim_run_until_round(sim, 2);
			for (uint32_t i = 1; i < 5; i++)
				assert_int_equal(sim_expect(sim, i, SL_REPORT_CAUGHT_UP, SL_REASON_NONE)->report.n[0], 1);
			for (size_t k = 0; k < sim->note_count; k++) /* with the round it is closed */
				assert_true(sim->notes[k].report.reason != SL_REASON_OPEN || sim->notes[k].report.t == 1);
		}
		sim_free(sim);
	}
	assert_true(tried >= 10);
}

/* --- random cuts after release --- */

/* Some of the links, and for some time. */
static void cut_some(struct sim *sim, uint64_t *random)
{
	uint64_t percent = 20 + sim_random(random) % 80;
	for (uint32_t i = 0; i < sim->n; i++)
		for (uint32_t j = i + 1; j < sim->n; j++)
			if (sim_random(random) % 100 < percent)
				sim_cut(sim, i, j);
	sim_elapse(sim, sim_random(random) % 1500);
	for (uint32_t i = 0; i < sim->n; i++)
		for (uint32_t j = i + 1; j < sim->n; j++)
			if (sim_link(sim, i, j)->cut && sim_random(random) % 2 == 0)
				sim_restore(sim, i, j);
}

static sl_round furthest(const struct sim *sim)
{
	sl_round most = 0;
	for (uint32_t i = 0; i < sim->n; i++)
		most = sim->learners[i].committed > most ? sim->learners[i].committed : most;
	return most;
}

static void test_random_cuts(void **state)
{
	(void)state;
	static const char *const topologies[] = {"line", "ring", "complete", "star"};
	static const enum sl_phase phases[] = {SL_PHASE_MIX, SL_PHASE_SETTLE, SL_PHASE_MIX, SL_PHASE_COMMIT};
	uint32_t burned = 0, open = 0;
	uint64_t longest = 0;
	for (uint64_t seed = 0; seed < sim_seeds(500); seed++) {
		struct sim *sim = begin(3000 + seed, 4 + (uint32_t)(seed % 4), topologies[seed / 2 % 4]);
		uint64_t random = seed;
		sim_run_until_phase(sim, (uint32_t)(sim_random(&random) % sim->n), phases[seed % 4]);
		sim_elapse(sim, sim_random(&random) % 60);
		for (uint32_t faults = 0; faults < 3; faults++) {
			cut_some(sim, &random);
			sim_elapse(sim, sim_random(&random) % 3000);
		}
		restore_all(sim);
		uint64_t since = sim->now;
		sim_run_until_round(sim, furthest(sim) + 2);
		longest = sim->now - since > longest ? sim->now - since : longest;
		for (uint32_t i = 0; i < sim->n; i++) {
			burned += sim_count(sim, i, SL_REPORT_BURNED, SL_REASON_NONE, NULL);
			open += sim_count(sim, i, SL_REPORT_FAILED, SL_REASON_OPEN, NULL);
		}
		sim_free(sim);
	}
	assert_true(burned > 500 && open > 50);
	assert_true(longest < 60000000);
}

/* One of them has forgotten what it released, but it says so by another incarnation; the others have not. */
static void test_a_crash(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < sim_seeds(100); seed++) {
		struct sim *sim = begin(2200 + seed, 5, seed % 2 ? "ring" : "complete");
		uint64_t random = seed;
		uint32_t who = (uint32_t)(sim_random(&random) % 5);
		sim_run_until_phase(sim, who, SL_PHASE_MIX);
		sim_elapse(sim, sim_random(&random) % 100);
		sim_crash(sim, who);
		sim_elapse(sim, sim_random(&random) % 3000);
		sim_restart(sim, who);
		sim_run_until_round(sim, furthest(sim) + 2);
		sim_free(sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_fork),
		cmocka_unit_test(test_random_cuts),
		cmocka_unit_test(test_a_crash),
	};
	cmocka_set_test_filter(getenv("SIM_ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
