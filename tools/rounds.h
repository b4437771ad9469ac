/* rounds.h - what the learners' log records say about each round, put together. Pure: records in, rows out.
 *
 * A row is complete when every learner of its view has committed and one of them has told the held-out error.
 */
#pragma once

#include <jansson.h>

#include "common/base/err.h"
#include "common/base/types.h"

struct sl_round_row {
	sl_round round;
	uint32_t step;		     /* of the schedule, counted from 1 as played; 0: not known yet */
	uint32_t learners, edges;    /* of the view */
	uint32_t committed;	     /* learners that have */
	uint64_t *who;		     /* bit set over the roster: those */
	double mu, mse, margin;	     /* margin: the largest */
	uint64_t k, bytes;	     /* bytes: sent by all of them in this round */
	uint64_t clamped;	     /* parameters that were cut to `clip`, of all of them */
	double train_s, aggregate_s; /* the slowest training; from the last `trained` to the last commit */
	double trained_ms, committed_ms;
	char digest[2 * SL_HASH_BYTES + 1]; /* of the first that committed */
	bool mse_known, same;		    /* same: all digests are equal */
	bool done;			    /* handed out as complete */
	bool verified;	   /* recomputed, and found the same bits */
	bool check_failed; /* recomputed, and not found so */
	bool exact;
};

struct sl_rounds {
	struct sl_round_row *rows; /* rows[t - 1] */
	uint32_t count, room;
	uint32_t learners; /* of the roster */
	sl_round most;	   /* T */
};

void sl_rounds_init(struct sl_rounds *rounds, uint32_t learners, sl_round most);
void sl_rounds_close(struct sl_rounds *rounds);

/* The row of the record's round, made if it is new; NULL if the record names no round of this run. */
struct sl_round_row *sl_rounds_row(struct sl_rounds *rounds, const json_t *record);

void sl_round_trained(struct sl_round_row *row, const json_t *record);
void sl_round_view(struct sl_round_row *row, const json_t *record);
/* Returns whether this is the first commit of the round. learner: index in the roster. */
bool sl_round_committed(struct sl_round_row *row, uint32_t learner, const json_t *record);
void sl_round_evaluated(struct sl_round_row *row, const json_t *record);

static inline bool sl_round_complete(const struct sl_round_row *row)
{
	return row->committed > 0 && row->committed >= row->learners && row->mse_known;
}

#define SL_MARGIN_MOST 0.375 /* protocol 7: from 3/8 on, rounding may have taken the wrong integer */

/* Equal digests and margins that leave no doubt: what can be said without seeing the encodings. */
static inline bool sl_round_agreed(const struct sl_round_row *row)
{
	return row->same && row->margin < SL_MARGIN_MOST;
}

/* `were`: what the same learner had said before of this round, in an attempt that failed. */
void sl_round_clamped(struct sl_round_row *row, uint64_t were, uint64_t are);

/* Fields of a record, with a value for when they are not there. */
double sl_field_real(const json_t *record, const char *name, double otherwise);
uint64_t sl_field_whole(const json_t *record, const char *name, uint64_t otherwise);
const char *sl_field_text(const json_t *record, const char *name, const char *otherwise);
