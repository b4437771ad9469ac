/* `neighbours: control`: the topology playback gives each learner its peers in range, step by step
 * (GROUP.md §12.8 Topology schedule). */

#include "common/base/bytes.h"
#include "test/lib/test.h"
#include "test/core/verbs.h"

static struct sl_sim *begin(uint64_t seed, uint32_t learners, const char *topology, uint32_t rounds)
{
	struct sl_sim_options o = {
		.seed = seed, .learners = learners, .topology = topology, .playback = true};
	o.parameters.rounds = rounds;
	struct sl_sim *sim = sl_sim_new(&o);
	sl_sim_start(sim);
	return sim;
}

/* A step ends when its round has committed. */
TEST(graph_changes_each_round)
{
	static const char *const families[] = {"ring", "regular:4", "star", "complete", "line"};
	for (uint32_t seed = 0; seed < 10; seed++) {
		struct sl_sim *sim = begin(30 + seed, 6 + seed % 3, families[0], 5);
		for (uint32_t t = 1; t < 5; t++) {
			sl_sim_run_until_round(sim, t);
			sl_sim_playback(sim, families[t], t);
		}
		sl_sim_run_until_done(sim);
		sl_sim_free(sim);
	}
}

/* No peer is in range: all wait and report it; the next step commits. */
TEST(disconnected_step_waits)
{
	struct sl_sim *sim = begin(60, 5, "geometric:0.001", 1);
	sl_sim_elapse(sim, 60000);
	assert_int_equal(sim->learners[0].host.phase, SL_PHASE_DISCOVER);
	sl_sim_expect(sim, 0, SL_REPORT_WAITING, SL_REASON_NONE);
	sl_sim_expect_none(sim, 0, SL_REPORT_VIEW, SL_REASON_NONE);
	sl_sim_playback(sim, "ring", 1);
	sl_sim_run_until_round(sim, 1);
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

TEST(round_waits_for_a_list)
{
	struct sl_sim *sim = begin(80, 4, "ring", 2);
	sl_sim_run_until_round(sim, 1);
	sl_sim_elapse(sim, 60000); /* trained for round 2, without a list */
	assert_int_equal(sim->learners[0].host.committed, 1);
	assert_int_equal(sim->learners[0].host.phase, SL_PHASE_DISCOVER);
	sl_sim_playback(sim, "line", 1);
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

/* Catching up does not use up a list: learner 3, out of range in the last step, takes part in this one. */
TEST(catching_up_within_a_step)
{
	static const struct sl_edge without_3[] = {{0, 1}, {0, 2}, {1, 2}};
	for (uint32_t seed = 0; seed < 10; seed++) {
		struct sl_sim_options o = {
			.seed = 85 + seed, .learners = 4, .playback = true, .parameters.rounds = 4};
		const struct sl_sim_note *note = NULL;
		struct sl_sim *sim = sl_sim_new(&o);
		sl_sim_start(sim);
		sl_sim_run_until_round(sim, 1);
		sl_sim_isolate(sim, 3);
		sl_sim_playback_edges(sim, without_3, 3);
		for (uint32_t i = 0; i < 3; i++)
			sl_sim_run_until_commit(sim, i, 2);
		assert_int_equal(sim->learners[3].host.phase, SL_PHASE_DISCOVER);
		sl_sim_rejoin(sim, 3);
		sl_sim_playback(sim, "complete", 2); /* once */
		sl_sim_run_until_round(sim, 3);
		assert_int_equal(sl_sim_count(sim, 3, SL_REPORT_COMMITTED, SL_REASON_NONE, &note), 2);
		assert_int_equal(note->report.committed.learners, 4);
		sl_sim_free(sim);
	}
}

/* Links are kept for two rounds after their peer went out of range, then closed. */
TEST(links_out_of_range_are_closed)
{
	struct sl_sim *sim = begin(81, 6, "complete", 4);
	sl_sim_run_until_round(sim, 1);
	assert_true(sl_bit(sim->learners[0].host.wanted, 3));
	for (uint32_t t = 1; t < 4; t++) {
		sl_sim_playback(sim, "ring", t);
		sl_sim_run_until_round(sim, t + 1);
	}
	assert_false(sl_bit(sim->learners[0].host.wanted, 3));
	assert_true(sl_bit(sim->learners[0].host.wanted, 1));
	sl_sim_free(sim);
}
