/* play.h - one seed from beginning to end: a world drawn from it, faults for a while, then none, and every learner must finish.
 *
 *   faults --a round drawn from the seed is committed, or time is up--> calm --every learner has committed T--> over
 *                                                                         | no commit for CALM_MOST_MS: fails
 *
 * The seed, the learners and the rounds decide everything; nothing else does. This file defines sim_failed: a program
 * that plays seeds does not fail by itself.
 */
#pragma once

#include "tools/sim/fault.h"

struct sim_play {
	uint64_t seed;
	uint32_t learners;
	sl_round rounds;
	FILE *lines; /* each step as a line; NULL: none */
};

#define SIM_WHY_BYTES 1024u

struct sim_outcome {
	uint64_t seed;
	bool failed;
	char why[SIM_WHY_BYTES];
	uint64_t steps, virtual_ms, digest;
	double seconds; /* of processor time */
	uint32_t faults;
	uint32_t commits, caught_up, burned, recovered, restarts; /* of all learners */
	struct sim_tally tally;
};

void sim_play(const struct sim_play *play, struct sim_outcome *outcome);
