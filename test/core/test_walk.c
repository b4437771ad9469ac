/* Learners that move (random waypoint). The graph of a step may have components without a quorum. A learner
 * that missed rounds catches up when it meets another one. The checker verifies every committed round. */
#include "test/lib/test.h"
#include "test/core/verbs.h"

#define WALKERS 20u
#define TOPOLOGY "geometric:0.3"
#define STEP_MS 15000u
#define STEPS_MOST 300u

static sl_round least(const struct sl_sim *sim)
{
	sl_round t = sim->learners[0].host.committed;
	for (uint32_t i = 1; i < sim->n; i++)
		t = sim->learners[i].host.committed < t ? sim->learners[i].host.committed : t;
	return t;
}

/* A small prime keeps K small. The run does not reach its last round. */
static struct sl_sim *begin(uint64_t seed, sl_round rounds, uint64_t quorum)
{
	struct sl_sim_options o = {.seed = seed,
				   .learners = WALKERS,
				   .topology = TOPOLOGY,
				   .playback = true,
				   .clipping_range = 1,
				   .delay_ms = 5};
	o.parameters = (struct sl_parameters){
		.n = 2, .p = 1009, .decimals = 1, .rounds = rounds + STEPS_MOST, .quorum = quorum};
	struct sl_sim *sim = sl_sim_new(&o);
	sl_sim_start(sim);
	return sim;
}

/* Play a step: until all have committed the next round of the last learner, or the step's time is over. */
static void walk(struct sl_sim *sim, uint32_t step)
{
	uint64_t end = sim->now + STEP_MS * UINT64_C(1000);
	sl_round before = least(sim);
	sl_sim_playback(sim, TOPOLOGY, step);
	while (sl_sim_next(sim) <= end && least(sim) == before)
		sl_sim_step(sim);
}

static uint32_t count_all(const struct sl_sim *sim, enum sl_report_kind kind, enum sl_reason reason)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < sim->n; i++)
		count += sl_sim_count(sim, i, kind, reason, NULL);
	return count;
}

/* A quorum goes on without the others. */
TEST(majority)
{
	uint32_t caught_up = 0;
	for (uint64_t seed = 0; seed < 5; seed++) {
		struct sl_sim *sim = begin(5000 + seed, 20, 0);
		uint32_t step = 1;
		for (; least(sim) < 20 && step < STEPS_MOST; step++)
			walk(sim, step);
		if (least(sim) < 20)
			sl_sim_fail(sim, "a learner is in round %u after %u steps", least(sim) + 1, step);
		caught_up += count_all(sim, SL_REPORT_CAUGHT_UP, SL_REASON_NONE);
		sl_sim_free(sim);
	}
	assert_true(caught_up > 20);
}

/* With a quorum of all, most steps commit nothing. */
TEST(quorum_of_all)
{
	uint32_t waited = 0;
	for (uint64_t seed = 0; seed < 3; seed++) {
		struct sl_sim *sim = begin(5100 + seed, 5, WALKERS);
		uint32_t step = 1;
		for (; least(sim) < 5 && step < STEPS_MOST; step++) {
			sl_round before = least(sim);
			walk(sim, step);
			waited += least(sim) == before;
		}
		if (least(sim) < 5)
			sl_sim_fail(sim, "in round %u after %u steps", least(sim) + 1, step);
		sl_sim_free(sim);
	}
	assert_true(waited > 3);
}
