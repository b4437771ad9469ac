/* Weight 0 takes part and does not count; an attempt in which all have it is given up (ROUND.md §4.4
 * Weights and clipping). */
#include "test/lib/test.h"
#include "test/core/verbs.h"

#define N 4u

static struct sl_sim *build(uint64_t max_weight)
{
	struct sl_sim *sim = sl_sim_new(
		&(struct sl_sim_options){.seed = 9, .learners = N, .parameters = {.max_weight = max_weight}});
	for (uint32_t i = 0; i < N; i++)
		sim->learners[i].host.workspace.weight = 0;
	return sim;
}

/* The simulator compares the mean with that of the models. */
TEST(one_counts)
{
	struct sl_sim *sim = build(3);
	sim->learners[2].host.workspace.weight = 3;
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	const struct sl_report *report = &sl_sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE)->report;
	assert_int_equal(report->committed.learners, N);
	assert_int_equal(report->committed.total_weight, 3);
	sl_sim_free(sim);
}

TEST(must_be_one)
{
	struct sl_sim *sim = build(1);
	sl_sim_start(sim);
	sl_sim_run_until_stopped(sim, 1, SL_ERR_RANGE);
	assert_int_equal(sl_sim_expect(sim, 1, SL_REPORT_FAILED, SL_REASON_WEIGHT)->report.why.weight.weight,
			 0);
	sl_sim_free(sim);
}

/* Each attempt ends by give-ups, for which nobody is lost; another one follows with models trained again. */
TEST(none_counts)
{
	struct sl_sim *sim = build(3);
	sl_sim_start(sim);
	sl_sim_run_until_all_say(sim, SL_REPORT_FAILED, SL_REASON_WEIGHTLESS);
	sl_sim_crash(sim, 1);
	sl_sim_elapse(sim, 1000);
	sl_sim_restart(sim, 1);
	sl_sim_elapse(sim, 60000);
	for (uint32_t i = 0; i < N; i++) {
		assert_int_equal(sim->learners[i].host.committed, 0);
		sim->learners[i].host.workspace.weight = 1;
	}
	sl_sim_run_until_done(sim);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(sl_sim_expect(sim, i, SL_REPORT_COMMITTED, SL_REASON_NONE)
					 ->report.committed.total_weight,
				 N);
	sl_sim_expect(sim, 0, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
	sl_sim_free(sim);
}
