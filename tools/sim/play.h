/* play.h - one seed from beginning to end: a world drawn from it, faults for a while, then none, and every
 * learner must finish.
 *
 *   faults --a round drawn from the seed is committed, or time is up--> calm --every learner has committed
 * T--> over | no commit for CALM_MOST_MS: fails
 *
 * The seed, the learners and the rounds decide everything; nothing else does. This file defines
 * sl_sim_failed: a program that plays seeds does not fail by itself.
 */
#pragma once

#include "tools/sim/fault.h"

struct sl_sim_play {
	uint64_t seed;
	uint32_t learners;
	sl_round rounds;
	FILE *lines; /* each step as a line; NULL: none */
};

#define SL_SIM_WHY_BYTES 1024u

struct sl_sim_outcome {
	uint64_t seed;
	bool failed;
	char why[SL_SIM_WHY_BYTES];
	uint64_t steps, virtual_ms, digest;
	double seconds; /* of processor time */
	uint32_t faults;
	uint32_t commits, caught_up, model_invalidated, recovered, restarts; /* of all learners */
	struct sl_sim_tally tally;
};

void sl_sim_play(const struct sl_sim_play *play, struct sl_sim_outcome *outcome);
