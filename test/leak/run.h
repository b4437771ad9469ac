/* run.h - one simulated run under faults, with coins and models that are handed in, and what learners said in
 * it.
 *
 * Inputs and outputs are numbered as they come up. Which ones do depends on the seed alone: the same seed
 * gives the same lists, whatever the inputs are.
 */
#pragma once

#include "test/leak/map.h"
#include "test/leak/seeds.h"
#include "tools/sim/fault.h"

#define RUN_FIELD SL_P_MERSENNE31

struct run_options {
	uint64_t seed;
	uint32_t learners, floats;
	sl_round rounds;
	enum sl_sharing_kind kind;
	enum sl_engine mixing;
};

struct input {
	bool coin;
	uint32_t learner;
	uint32_t attempt; /* of a coin: it is drawn for the shares of that one */
	uint32_t draw;	  /* of a model */
	size_t element;
};

struct run {
	struct sl_sim_faults faults; /* first: the context of the sim */
	struct run_options options;
	struct sl_field field;
	const uint64_t *given; /* values of the first given_count inputs; the others are 0 */
	size_t given_count;
	struct input *inputs;
	size_t input_count, input_room;
	struct row *rows;  /* outputs, */
	uint64_t *outputs; /* and their values */
	size_t output_count, output_room;
	struct history history;
	uint8_t h[HISTORY_ATTEMPTS][SL_HASH_BYTES]; /* of its attempts */
	struct drawer {
		struct run *run;
		uint32_t learner, draws; /* models so far */
		struct random_script random_script;
		uint64_t randomness[16];
	} drawers[HISTORY_LEARNERS];
	struct seeds seeds;
	uint64_t digest; /* of everything that happened, values aside */
	uint32_t commits;
};

/* Plays the seed to its end. given may be NULL when given_count is 0. */
void run_play(struct run *run, const struct run_options *options, const uint64_t *given, size_t given_count);
void run_free(struct run *run);
