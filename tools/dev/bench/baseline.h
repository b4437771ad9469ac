/* baseline.h - `--vs`: what others take for the like, run beside it. What is not installed is said in a note,
 * once a case.
 *
 * allreduce.c: MPI_Allreduce over its tcp transport, without privacy or encryption. paper_octave.m: the
 * paper's simulation.
 */
#pragma once

#include "tools/dev/bench/bench.h"

/* One sample: median seconds in which `learners` processes add up vectors of `floats` 32-bit integers.
 * SL_ERR_NOTFOUND: there is none, and a note says why; SL_PENDING: interrupted. */
int sl_baseline_allreduce(struct sl_bench *bench, uint32_t learners, uint32_t floats,
			  struct sl_figure *figure);

/* ns of CPU at both ends for a byte over TLS with nothing around it (bare.h). SL_ERR_NOTFOUND: it
 * failed, and a note says so. */
int sl_baseline_tls(struct sl_bench *bench, uint32_t samples, struct sl_figure *figure);

/* One sample each: ns a share in its best form, and microseconds of an iteration of one of 100 learners;
 * NULL: not asked. */
int sl_baseline_octave(struct sl_bench *bench, uint32_t degree, struct sl_figure *share,
		       struct sl_figure *iteration);
