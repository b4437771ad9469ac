/* job_mix_row.h - the arithmetic of one engine on one learner's vectors: a row of the table in job_mix.c. */
#pragma once

#include "common/compute/blocks.h"

struct sl_job_mix_row {
	/* Take memory from the scratch and fill it. Called for every engine, since ENCODE runs before an
	 * engine is chosen. SL_ERR_NOMEM. */
	int (*open)(struct sl_workspace *workspace, const struct sl_view *view);
	/* Return true if the masked states of this exchange are added to s, and nothing else is done. NULL:
	 * they are. */
	bool (*adds)(const struct sl_view *view);
	/* Write `count` elements of a first state, of which `s` are those of the masked state, to `out`, as a
	 * State would have them. NULL: they are elements of Z_p. */
	void (*first)(const struct sl_view *view, const uint64_t *s, size_t count, uint8_t *out);
	/* Take a neighbour's state. SL_ERR_INVALID: its elements are not of the field. NULL: any bytes will
	 * do. */
	int (*take)(struct sl_workspace *workspace, const struct sl_view *view, struct sl_buffer *buffer);
	/* Make a block of the state of exchange k+1 from the states in the room of its worker, which begin at
	 * the same element. NULL: `take` has done all. */
	void (*step)(struct sl_workspace *workspace, const struct sl_view *view, const struct sl_block *block,
		     uint64_t k);
	/* Make Z of the last state; return the rounding margin. NULL: the last state is Z. */
	double (*close)(struct sl_workspace *workspace, const struct sl_view *view);
};

extern const struct sl_job_mix_row sl_job_mix_exact, sl_job_mix_metropolis, sl_job_mix_forest;
