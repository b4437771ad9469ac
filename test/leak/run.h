/* run.h - one simulated run under faults, with given random numbers and models, and the messages in it.
 *
 * Inputs and outputs are numbered in order of appearance. The lists depend on the seed alone, not on the
 * values.
 */
#pragma once

#include "test/leak/map.h"
#include "test/leak/random_script.h"
#include "test/simulator/fault.h"

#define RUN_FIELD SL_P_MERSENNE31

struct run_options {
	uint64_t seed;
	uint32_t learners, floats;
	sl_round rounds;
	enum sl_sharing_kind kind;
	enum sl_engine mixing;
	bool absences; /* learners are away for some time, and no other fault comes */
	enum sl_membership_change change;
	bool noisy;	     /* learners add noise, the same in all runs with these options, */
	uint32_t weightless; /* .. also those that have weight 0: a set */
};

struct input {
	bool random; /* or a model */
	uint32_t learner;
	uint32_t attempt; /* of a random number: the attempt whose shares it is for */
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
	uint64_t digest; /* of all events without their values */
};

/* Play the seed to its end. `given` may be NULL if given_count is 0. */
void run_play(struct run *run, const struct run_options *options, const uint64_t *given, size_t given_count);
void run_free(struct run *run);
