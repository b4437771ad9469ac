/* mix_engine.h - the messages of one engine: a row of the table in mix.c; and what engines share.
 *
 * An engine goes chunk by chunk. at->started, finished and base count chunks; at->iteration, have and busy
 * are the engine's, by chunk. Credit: a neighbour may send states of at most 2 * sl_view_window chunks from
 * at->base on.
 */
#pragma once

#include "common/core/state.h"

struct sl_mix_row {
	/* Prepare for the first key and state. */
	void (*begin)(struct sl_core *core);
	/* The masked state of neighbour `r` is known. */
	void (*key)(struct sl_core *core, uint32_t r);
	/* Take a state of neighbour `r`, of the right size and within its credit. Return NULL, or why it is
	 * not acceptable. */
	const char *(*take)(struct sl_core *core, uint32_t r, struct sl_buffer *buffer);
	/* Send and start what is due. */
	void (*step)(struct sl_core *core);
	/* A MIX job of chunk `m` is done. */
	void (*result)(struct sl_core *core, uint32_t m);
	/* Return true if chunk `m` waits for neighbour `r`. */
	bool (*awaits)(const struct sl_core *core, uint32_t m, uint32_t r);
	uint64_t free_iteration; /* of states that need no credit: they are never held */
};
/* exact and metropolis; forest */
extern const struct sl_mix_row sl_mix_exchange, sl_mix_forest;

/* Hold a state of a neighbour until its turn. */
void sl_mix_hold(struct sl_core *core, struct sl_exchange *exchange, struct sl_buffer *buffer);
/* Return the held state of this chunk and exchange, which is held no more; or NULL. */
struct sl_buffer *sl_mix_unhold(struct sl_exchange *exchange, uint32_t chunk, uint64_t iteration);
/* Return true if the state of this chunk and exchange is held. */
bool sl_mix_is_held(const struct sl_exchange *exchange, uint32_t chunk, uint64_t iteration);
/* Start the MIX job of chunk `m` that takes the states `iteration`: `buffers`, or what the slots have. */
void sl_mix_job(struct sl_core *core, uint32_t m, uint64_t iteration, struct sl_buffer *buffers);
/* Send the own state of this chunk and exchange to the peers of `to`. */
void sl_mix_send(struct sl_core *core, const uint64_t *to, uint32_t chunk, uint64_t iteration);
/* Chunk `m` has its result: at->iteration of a finished chunk is `end`. */
void sl_mix_finish(struct sl_core *core, uint32_t m, uint64_t end);
