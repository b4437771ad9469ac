/* watch.h - the map of a simulated run: of all messages in all its attempts.
 *
 * The seed is played once with zeros and once for each unit input; random numbers of different attempts are
 * probed in one run. Runs with random inputs, which the map has to predict, show that this is allowed, and
 * that the map is affine.
 */
#pragma once

#include "test/leak/run.h"

struct watch {
	struct run run; /* of zeros */
	struct map map;
};

void watch_open(struct watch *watch, const struct run_options *options);
void watch_close(struct watch *watch);
