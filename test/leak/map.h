/* map.h - the messages of learners as an affine map of all random numbers and models; what a coalition sees
 * of it, and what that reveals of the models.
 *
 * Random numbers are uniform (test_randomness.c, test_joint.c); the mask of a deposit is so for everybody
 * without its key (ChaCha20), and a key is known or uniform (test_keys.c). So some outputs reveal those of
 * their linear combinations that contain no random number, and nothing else. Inputs are the random numbers,
 * learner by learner, then the models in the order of history_model.
 */
#pragma once

#include "test/leak/history.h"

enum row_kind {
	ROW_SHARE,   /* S_from^to */
	ROW_OWN,     /* S_from^from: never leaves */
	ROW_DEPOSIT, /* e_from: s_from(0) and a mask of random numbers, which stand for the stream of its key
		      */
	ROW_STATE,   /* s_from(0): what a deposit and its key give */
};

struct row {
	enum row_kind kind;
	uint32_t attempt, from, to;
	size_t element;
};

struct map {
	const struct history *history;
	struct sl_field field;
	size_t random_start[HISTORY_LEARNERS +
			    1]; /* first random number of learner i; at the end, first model */
	size_t inputs, outputs;
	struct row *rows;    /* outputs; neither they nor the history are owned */
	bool own_sent;	     /* deliberate mistake: the own share is sent, too */
	struct matrix cells; /* outputs x inputs */
};

/* Return the output of these inputs; `base` is that of zeros. */
uint64_t map_predict(const struct map *map, size_t output, uint64_t base, const uint64_t *inputs);
/* Return the learner to which an input belongs. */
uint32_t map_owner(const struct map *map, size_t input);
/* Return true if the coalition sees that output: a share sent to it, or a masked state that was shown. */
bool map_sees(const struct map *map, uint32_t coalition, const struct row *row);
/* Return all that it sees, over the inputs; its own inputs count as known. */
struct matrix map_seen(const struct map *map, uint32_t coalition);
/* Return what that reveals of the models, over the columns of models, reduced. */
struct matrix map_learned(const struct map *map, uint32_t coalition);
/* Return true if it is exactly what history_allowed says. */
bool map_as_allowed(const struct map *map, uint32_t coalition);
/* Return true if it is also no more than the sums over all others in the attempts that these released, and no
 * model is in two of them: what reuse rule and privacy check promise. */
bool map_only_results(const struct map *map, uint32_t coalition);
/* Return `learned` over columns of models of which a learner has one, whatever its draw: trained again on the
 * same data, in the worst case a model is the same. Models have one element. */
struct matrix map_merged(const struct history *history, const struct matrix *learned);
