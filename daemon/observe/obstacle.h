/* obstacle.h - what keeps a learner from a round although it waits, and the remedy: too few learners in
 * reach, or the rule for which the last attempt was refused. The log, the control socket and /healthz say it.
 *
 * The core says which wait it is (sl_core_awaits), and reported the rule when it refused the attempt or left
 * a learner out; that sentence is kept here.
 */
#pragma once

#include "daemon/observe/observe.h"

/* Keep `text`, the sentence of `report`, if it is one of struct sl_obstacles. */
void sl_obstacle_report(struct sl_observe *observe, const struct sl_report *report, const char *text);
/* Measure how fast the model of a missed round comes. */
void sl_obstacle_fetch(struct sl_observe *observe, const struct sl_report *report);
/* Return what waiting alone does not cure in `wait` for the learners of `awaited`, cause and remedy, in
 * `text`; "": it may cure it. */
const char *sl_obstacle(const struct sl_observe *observe, enum sl_wait wait, const uint64_t *awaited,
			char text[static SL_OBSTACLE_BYTES]);
