/* figures.h - what a step of a schedule costs, and how many colluders it bears.
 *
 * Owns the memory that it works in, and the lists of vertices in the figures of the last step.
 */
#pragma once

#include "tools/lib/schedule.h"

#define SL_FIGURE_NONE UINT32_MAX

struct sl_figures_request {
	uint64_t p;	 /* a prime, 2 < p < 2^61 */
	uint32_t floats; /* of a model: n of the protocol */
	bool seeded;	 /* a share is a seed */
	bool exact;	 /* whether the exchanges of the exact engine are wanted: they take longest */
};

/* Of an engine there is none where it cannot run, as on every graph that is not connected. */
struct sl_step_figures {
	uint32_t learners, edges, degree_min, degree_max;
	double degree_mean;
	uint32_t parts, largest; /* connected components, learners in the largest */
	uint32_t kappa;
	uint32_t cut_count; /* kappa, or 0: everybody is with everybody, or the graph in parts */
	const uint32_t *cut;
	uint32_t articulation_count;
	const uint32_t *articulation;
	double mu;		       /* 1 unless connected */
	uint64_t k;		       /* iterations of metropolis, UINT64_MAX: none */
	uint32_t p_bits;	       /* metropolis: the most bits of p that rounding leaves room for */
	uint32_t exact;		       /* exchanges, SL_FIGURE_NONE: none */
	uint32_t tree;		       /* steps up and down, SL_FIGURE_NONE: none */
	double bytes_mean, bytes_most; /* that a learner sends with metropolis; 0: none */
};

struct sl_figures {
	const struct sl_schedule *schedule;
	struct sl_figures_request request;
	void *memory;
	size_t bytes;
};

int sl_figures_open(struct sl_figures *figures, const struct sl_schedule *schedule,
		    const struct sl_figures_request *request);
void sl_figures_close(struct sl_figures *figures);

int sl_figures_step(struct sl_figures *figures, uint32_t step, struct sl_step_figures *f);

/* What the gate says to a step when c learners may collude (protocol 5, GATE). */
enum sl_privacy_verdict {
	SL_PRIVACY_OPEN,
	SL_PRIVACY_PARTS, /* not connected */
	SL_PRIVACY_FEW,	  /* fewer than c + 2 learners */
	SL_PRIVACY_CUT,	  /* c learners or fewer cut it apart: f->cut */
};
enum sl_privacy_verdict sl_figures_privacy_check(const struct sl_step_figures *f, uint32_t c);
