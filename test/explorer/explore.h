/* explore.h - every history of a few learners and one round, up to a number of faults: all orders of
 * deliveries, crashes, losses, forgettings, a liar.
 *
 * Breadth first, so that the first history that breaks a rule is a shortest one. A world is kept as a string
 * of numbers (explore_world.h), and compared as such: worlds that are equal are one.
 */
#pragma once

#include "test/explorer/explore_world.h"

struct sl_explore_result {
	uint64_t states, choices, steps, learners; /* steps: of a core, computed; learners: different ones */
	uint32_t depth;				   /* choices of the longest history begun */
	bool complete;				   /* there is no other world */
	size_t bytes;
	char broken[256]; /* the rule that was broken; empty: none */
};

/* Explore. lines: a broken rule's history is written there. progress: called now and then; may be NULL. */
void sl_explore_run(const struct sl_explore_options *options, FILE *lines,
		    void (*progress)(const struct sl_explore_result *result, void *context), void *context,
		    struct sl_explore_result *result);
