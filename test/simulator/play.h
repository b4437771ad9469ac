/* play.h - one seed from beginning to end: a world drawn from it, faults for a while, then none, and every
 * learner must finish.
 *
 *   faults --a round drawn from the seed is committed, or FAULTS_MOST_US--> calm
 *   calm --every learner has committed T--> over
 *        --no commit for CALM_MOST_US--> failed; stuck, if a lie was told that may stop the others
 *
 * A range of seeds is played by several processes: an assertion of the core ends one seed, and another
 * process goes on after it. The seed, the learners, the rounds, the faults and the lies decide a run; the
 * other seeds and processes do not. This file defines sl_sim_failed: a program that plays seeds does not fail
 * by itself.
 */
#pragma once

#include "common/base/err.h"
#include "test/simulator/fault.h"

struct sl_sim_play {
	uint64_t seed, seeds; /* the first one; how many, of a range */
	uint32_t learners;
	sl_round rounds;
	uint32_t jobs;	 /* processes at once, of a range */
	uint32_t faults; /* kinds that may be drawn: a bit set; 0: all */
	uint32_t lies;	 /* that a liar may tell; 0: those that do not stop the others */
	FILE *lines;	 /* each step as a line; NULL: none */
};

#define SL_SIM_WHY_BYTES 1024u

struct sl_sim_outcome {
	uint64_t seed;
	bool failed;
	bool stuck; /* stopped by a lie, or by different seen sums, of which that is known */
	char why[SL_SIM_WHY_BYTES];
	uint64_t steps, virtual_ms, digest;
	double seconds; /* of processor time */
	uint32_t faults;
	uint32_t commits, caught_up, model_invalidated, recovered, restarts; /* of all learners */
	struct sl_sim_tally tally;
	uint32_t told[SL_SIM_LIE_COUNT]; /* lies */
};

void sl_sim_play(const struct sl_sim_play *play, struct sl_sim_outcome *outcome);
/* Return true if the learners of this seed add noise. */
bool sl_sim_play_noise(uint64_t seed);
/* Return the kinds of faults, or the lies, that so many learners can get over: a bit set. Others are not
 * drawn.
 */
uint32_t sl_sim_play_kinds(uint32_t learners);
uint32_t sl_sim_play_lies(uint32_t learners);

/* range.c */
#define SL_SIM_JOBS_MOST 256u

/* The sums over a range of seeds. */
struct sl_sim_totals {
	uint64_t seeds, failed, stuck, steps, virtual_ms, faults, commits, caught_up, model_invalidated,
		recovered, restarts;
	uint64_t hit[SL_SIM_FAULT_COUNT][SL_PHASE_COUNT];
	uint64_t point[SL_SIM_POINTS_MOST], told[SL_SIM_LIE_COUNT];
	double seconds; /* of processor time, of all workers */
};
void sl_sim_totals_add(struct sl_sim_totals *totals, const struct sl_sim_outcome *outcome);

/* Take an outcome; return false to end the range. */
typedef bool (*sl_sim_each)(void *context, const struct sl_sim_outcome *outcome);

/* Play a range. SL_ERR_IO: no process can be started. */
int sl_sim_range_run(const struct sl_sim_play *range, sl_sim_each each, void *context,
		     struct sl_error *error);
