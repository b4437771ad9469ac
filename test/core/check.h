/* check.h - the rules that hold after every step of a simulation, kept by a bookkeeper outside the cores.
 *
 *  - Z is the plain sum mod p of the encodings of exactly the view's participants; two commits of one round are one.
 *  - No masked state of an attempt leaves before every participant's Ready was emitted, nor after the attempt ended
 *    there; a model released in an attempt that ended is never encoded again (protocol 6).
 *  - Iteration k of a chunk leaves when every neighbour's k-1 has left: at most one ahead.
 *  - An edge is what both ends listed; an attempt has one view; nobody signs two things for one attempt; and no Ready
 *    while another attempt, released by this learner, can be completed by somebody who has not signed for a later one.
 *  - The gate held for every view that shared, whichever c learners pool what they see; phases move along phase.h; actions and held buffers stay below their maxima.
 */
#pragma once

#include "test/core/sim.h"

struct sim_attempt {
	struct sim_attempt *next;
	uint8_t h[SL_HASH_BYTES];
	sl_round t;
	sl_attempt a;
	uint32_t n, chunks;
	uint64_t p, elements;
	uint32_t *members; /* roster indices */
	bool *edge;        /* roster x roster */
	bool *ready, *ended, gated;
	uint64_t **x;    /* by roster index: its encoding */
	float **theta;   /* its model */
	uint64_t *weight;
	int64_t *out;    /* roster x chunks: last iteration that left; -1 */
};

void check_view(struct sim *sim, const struct sl_view *view);                     /* at SPECTRUM */
void check_encoded(struct sim *sim, uint32_t i, const struct sl_view *view);      /* after ENCODE */
void check_closed(struct sim *sim, uint32_t i, const struct sl_view *view);       /* after CLOSE */
void check_committed(struct sim *sim, uint32_t i, const struct sl_proof *commit); /* when it is durable */
void check_sent(struct sim *sim, uint32_t i, const struct sl_action *action);
void check_report(struct sim *sim, uint32_t i, const struct sl_report *report);
void check_step(struct sim *sim, uint32_t i, const struct sl_actions *actions);
void check_crashed(struct sim *sim, uint32_t i);
void check_free(struct sim *sim);

/* Among the files. */
struct sim_attempt *check_find(const struct sim *sim, const uint8_t *h);
/* check_signed.c */
void check_edges(struct sim *sim, const struct sim_attempt *page);
void check_one_view(struct sim *sim, const struct sim_attempt *page);
void check_signed(struct sim *sim, uint32_t i, const struct sl_action *action);
