/* crowd.h - rounds of many learners in this process, each with its own core and vectors, without sockets,
 * disk or waiting (tools/sim/runner.c): CPU seconds of one thread, by part of the round.
 */
#pragma once

#include "tools/dev/bench/bench.h"

#define SL_CROWD_SETS 6u

struct sl_crowd {
	uint32_t learners;
	size_t parameters;
	const char *topology;
	const char *set[SL_CROWD_SETS]; /* "KEY=VALUE"; NULL after the last */
};

struct sl_crowd_costs {
	double share_s, mix_s; /* of all learners together */
	uint64_t exchanges;    /* of mixing */
};

/* One round. SL_PENDING: interrupted. */
int sl_crowd_round(const struct sl_crowd *crowd, struct sl_crowd_costs *costs, struct sl_error *error);
