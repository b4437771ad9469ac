/* stats.h - the figures of a whole run: phases, bytes, stragglers, clocks. */
#pragma once

#include <stdio.h>

#include "tools/timeline/timeline.h"

/* Return the figures of all rounds as a new object:
 *
 *   {"v":1, "run":"NAME" or null, "rounds":T or null, "learners":[{"id":1,"name":"ana"}], "first":1,
 *    "last":9, "committed":9 (rounds), "same":true, false or null (none committed), "attempts":11,
 *    "failed_attempts":2,
 *    "round_s":{"count":9,"p50_s":..,"p95_s":..,"max_s":..,"round":7} or null,
 *    "phases":[{"phase":"train","count":900,"p50_s":..,"p95_s":..,"max_s":..,"learner":4,"round":7}],
 *    "bytes":{"sent":N (all learners and rounds), "round_p50":N, "round_max":N, "round":7} or null,
 *    "links":[{"a":1,"b":2,"bytes":N}] (the ten busiest),
 *    "stragglers":[{"learner":4, "rounds":3 (in which it was the slowest),
 *                   "s":36.1 (in its slowest phases)}],
 *    "clock_gap":{"ahead":2,"behind":1,"s":4.98,"round":1} (the largest) or null}
 *
 * A quantile is a value of a learner in a round, by nearest rank. */
json_t *sl_stats_json(struct sl_timeline *timeline);

/* Print them as text. */
void sl_stats_print(FILE *out, const json_t *stats);
