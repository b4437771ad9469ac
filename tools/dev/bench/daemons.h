/* daemons.h - rounds of real daemons over loopback, by `starling launch`, and its summary of each.
 *
 * The first round makes the links and is not counted. The trainer is `noise`, except in the case `demo`.
 */
#pragma once

#include "tools/dev/bench/bench.h"

#define SL_RUN_SETS 6u

struct sl_bench_daemons {
	uint32_t learners, size; /* size: the setting noise_parameters; 0: the default trainer */
	const char *topology;
	const char *set[SL_RUN_SETS]; /* "KEY=VALUE"; NULL after the last */
	bool memory;		      /* again with the run folder on a tmpfs */
	bool floor;		      /* and the least time that bytes and arithmetic take */
};

/* One launch of `rounds` rounds in `folder`/run; *rows: "rounds" of its summary, all of them exact. */
int sl_bench_launch(struct sl_bench *bench, const struct sl_bench_daemons *what, uint32_t rounds,
		    const char *folder, json_t **rows, struct sl_error *error);
/* The same, and the run folder remains. */
int sl_bench_launch_kept(struct sl_bench *bench, const struct sl_bench_daemons *what, uint32_t rounds,
			 const char *folder, json_t **rows, struct sl_error *error);
