/* map.h - what learners said as an affine map of all coins and models; who saw which of it, and what that
 * tells of the models.
 *
 * Whoever sees some outputs knows, of the models, what a combination of these without coins says, and nothing
 * else: coins are uniform (test_leak_coins.c, test_leak_joint.c). Inputs are the coins, learner by learner,
 * then the models as the history has them.
 */
#pragma once

#include "test/leak/history.h"

enum row_kind {
	ROW_SHARE, /* S_from^to */
	ROW_OWN,   /* S_from^from: never leaves */
	ROW_STATE, /* s_from(0) */
};

struct row {
	enum row_kind kind;
	uint32_t attempt, from, to;
	size_t element;
};

struct map {
	const struct history *history;
	struct sl_field field;
	size_t coin_start[HISTORY_LEARNERS +
			  1]; /* first input that is a coin of learner i; behind the last, the first model */
	size_t inputs, outputs;
	struct row *rows;    /* outputs; neither they nor the history are owned */
	bool own_sent;	     /* the deliberate mistake: the own share goes out with the others */
	struct matrix cells; /* outputs x inputs */
};

/* What an output is of these inputs, when it is `base` of zeros. */
uint64_t map_predict(const struct map *map, size_t output, uint64_t base, const uint64_t *inputs);
/* Whose coin or model an input is. */
uint32_t map_owner(const struct map *map, size_t input);
/* Whether the coalition has that output in the end: a share sent to it, or a masked state that was shown. */
bool map_sees(const struct map *map, uint32_t coalition, const struct row *row);
/* All that it has in the end, over the inputs; what it put in itself counts as known. */
struct matrix map_seen(const struct map *map, uint32_t coalition);
/* What that says of the models, whatever the coins: over the columns of models, reduced. */
struct matrix map_learned(const struct map *map, uint32_t coalition);
/* Whether it is exactly what history_allowed says: no more, no less. */
bool map_as_allowed(const struct map *map, uint32_t coalition);
/* .. and this no more than the sums over all the others in the attempts that these released, no model being
 * in two of them: what the reuse rule and a privacy check that bears the coalition are for. */
bool map_only_results(const struct map *map, uint32_t coalition);
