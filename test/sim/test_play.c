/* A seed decides a run to the last line, independent of the seeds before it, of the trace and of the number
 * of processes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/lib/test.h"
#include "test/simulator/play.h"

#define SEEDS 12u

static struct sl_sim_outcome play(uint64_t seed, FILE *lines)
{
	struct sl_sim_outcome outcome;
	sl_sim_play(&(struct sl_sim_play){.seed = seed, .learners = 5, .rounds = 6, .lines = lines},
		    &outcome);
	if (outcome.failed)
		fail_msg("%s", outcome.why);
	return outcome;
}

static void expect_same(const struct sl_sim_outcome *a, const struct sl_sim_outcome *b)
{
	assert_int_equal(a->seed, b->seed);
	assert_int_equal(a->digest, b->digest);
	assert_int_equal(a->steps, b->steps);
	assert_int_equal(a->virtual_ms, b->virtual_ms);
	assert_memory_equal(&a->tally, &b->tally, sizeof a->tally);
}

TEST(test_seeds_differ)
{
	uint64_t last = 0;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sl_sim_outcome outcome = play(seed, NULL);
		assert_int_not_equal(outcome.digest, last);
		last = outcome.digest;
	}
}

/* An eighth of the seeds has noise, whatever else a seed decides by its remainder. */
TEST(test_noise)
{
	uint32_t noisy = 0, of[8] = {0};
	for (uint64_t seed = 0; seed < 8000; seed++) {
		noisy += sl_sim_play_noise(seed);
		of[seed % 8] += sl_sim_play_noise(seed);
	}
	assert_true(noisy > 900 && noisy < 1100);
	for (int k = 0; k < 8; k++)
		assert_true(of[k] > 60);
}

/* Rounds with noise, in more than one attempt and of vectors of several chunks. */
TEST(test_rounds_with_noise)
{
	uint32_t played = 0;
	for (uint64_t seed = 0; played < 2 * SEEDS; seed++)
		if (sl_sim_play_noise(seed)) {
			assert_true(play(seed, NULL).commits > 0);
			played++;
		}
}

/* A trace does not change the run. */
TEST(test_same_lines)
{
	char *text[2];
	size_t size[2];
	for (int k = 0; k < 2; k++) {
		FILE *lines = open_memstream(&text[k], &size[k]);
		struct sl_sim_outcome told = play(3, lines), untold = play(3, NULL);
		fclose(lines);
		expect_same(&told, &untold);
	}
	assert_int_equal(size[0], size[1]);
	assert_memory_equal(text[0], text[1], size[0]);
	assert_true(size[0] > 10000);
	free(text[0]);
	free(text[1]);
}

/* However few learners there are, the seeds draw only what they can get over. */
TEST(test_few_learners)
{
	struct sl_sim_outcome outcome;
	for (uint32_t learners = 3; learners <= 6; learners++)
		for (uint64_t seed = 0; seed < 5 * SEEDS; seed++) {
			sl_sim_play(&(struct sl_sim_play){.seed = seed, .learners = learners, .rounds = 2},
				    &outcome);
			if (outcome.failed)
				fail_msg("%u learners: %s", learners, outcome.why);
		}
}

/* --- a range --- */

struct heard {
	struct sl_sim_outcome of[SEEDS];
	uint32_t count;
};

static bool hear(void *context, const struct sl_sim_outcome *outcome)
{
	struct heard *heard = context;
	assert_true(outcome->seed < SEEDS && heard->of[outcome->seed].steps == 0);
	heard->of[outcome->seed] = *outcome;
	heard->count++;
	return true;
}

static void play_range(uint32_t jobs, struct heard *heard)
{
	struct sl_error error;
	memset(heard, 0, sizeof *heard);
	assert_int_equal(
		sl_sim_range_run(
			&(struct sl_sim_play){.seeds = SEEDS, .learners = 5, .rounds = 6, .jobs = jobs}, hear,
			heard, &error),
		SL_OK);
	assert_int_equal(heard->count, SEEDS);
}

TEST(test_jobs_change_nothing)
{
	static struct heard one, five;
	play_range(1, &one);
	play_range(5, &five);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sl_sim_outcome here = play(seed, NULL);
		expect_same(&one.of[seed], &five.of[seed]);
		expect_same(&one.of[seed], &here);
	}
}

/* The totals are the sums of the outcomes. */
TEST(test_totals)
{
	static struct heard heard;
	struct sl_sim_totals totals = {0};
	uint64_t hits = 0;
	play_range(2, &heard);
	for (uint64_t seed = 0; seed < SEEDS; seed++)
		sl_sim_totals_add(&totals, &heard.of[seed]);
	for (uint32_t k = 0; k < SL_SIM_FAULT_COUNT; k++)
		for (uint32_t p = 0; p < SL_PHASE_COUNT; p++)
			hits += totals.hit[k][p];
	assert_int_equal(totals.seeds, SEEDS);
	assert_int_equal(totals.faults, hits);
	assert_true(totals.faults > SEEDS && totals.restarts > 0);
	/* each learner committed each round, or caught up over it */
	assert_true(totals.commits + totals.caught_up <= SEEDS * 5 * 6);
	assert_true(totals.commits > SEEDS * 5);
}
