/* watch.h - the map of a simulated run: of all that its learners said to each other, as the wire has it, in
 * all its attempts.
 *
 * The seed is played once for zeros and once for each unit input; coins of different attempts are probed at
 * once. That they do not meet, and that the map is affine, is seen in runs with inputs of all kinds, which
 * the map has to predict.
 */
#pragma once

#include "test/leak/run.h"

struct watch {
	struct run run; /* of zeros */
	struct map map;
	uint32_t plays;
};

void watch_open(struct watch *watch, const struct run_options *options);
void watch_close(struct watch *watch);
