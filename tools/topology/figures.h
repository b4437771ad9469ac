/* figures.h - the analysis of a step of a schedule (common/mixing/analysis.h).
 *
 * Owns the memory that it works in. Graph and analysis are those of the last step that was asked for.
 */
#pragma once

#include "common/mixing/analysis.h"
#include "common/mixing/privacy.h"
#include "tools/lib/schedule.h"

struct sl_figures_request {
	struct sl_analysis_request analysis; /* its field and trees are set by sl_figures_open */
	uint64_t p;			     /* a prime, 2 < p < 2^61 */
	uint32_t floats;		     /* of a model */
};

struct sl_figures {
	const struct sl_schedule *schedule;
	struct sl_figures_request request;
	struct sl_field field;
	void *memory;
	size_t bytes;
	struct sl_graph graph;
	struct sl_analysis analysis;
	double forest_bound; /* vectors that the busiest learner sends with any trees, at least */
};

/* SL_ERR_NOMEM. */
int sl_figures_open(struct sl_figures *figures, const struct sl_schedule *schedule,
		    const struct sl_figures_request *request);
void sl_figures_close(struct sl_figures *figures);

/* Analyse a step. Engines that the request leaves out cost nothing. */
int sl_figures_step(struct sl_figures *figures, uint32_t step);

/* Write why the privacy check refuses the last step at c, and the remedy: "" where it does not. The step may
 * be in parts. */
void sl_figures_refusal(const struct sl_figures *figures, uint64_t c, char *text, size_t size);
