/* range.h - many seeds, played by some processes at once: an assertion of the core ends one of them and one
 * seed, not all.
 *
 *   range ---- worker w plays seed + w, seed + w + jobs, .. --> an outcome each, in no order
 *         \--- a worker that died: its seed has failed, and another worker goes on after it
 *
 * What a seed does depends on nothing but itself, so neither on jobs nor on the other seeds.
 */
#pragma once

#include "common/base/err.h"
#include "tools/sim/play.h"

struct sl_sim_range {
	uint64_t seed, seeds;
	uint32_t learners;
	sl_round rounds;
	uint32_t jobs;
	FILE *lines; /* each step as a line; NULL: none */
};

#define SL_SIM_JOBS_MOST 256u

/* What a range of seeds adds up to. */
struct sl_sim_totals {
	uint64_t seeds, failed, steps, virtual_ms, faults, commits, caught_up, model_invalidated, recovered,
		restarts;
	uint64_t hit[SL_SIM_FAULT_COUNT][SL_PHASE_COUNT];
	uint64_t point[SL_SIM_POINTS_MOST];
	double seconds; /* of processor time, of all workers */
};
void sl_sim_totals_add(struct sl_sim_totals *totals, const struct sl_sim_outcome *outcome);

/* Told each outcome; false: no more. */
typedef bool (*sl_sim_each)(void *context, const struct sl_sim_outcome *outcome);

/* SL_ERR_IO when no process can be had. */
int sl_sim_range_run(const struct sl_sim_range *range, sl_sim_each each, void *context,
		     struct sl_error *error);
