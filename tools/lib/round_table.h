/* round_table.h - a table of rounds from the log records of all learners. Pure: records in, rows out.
 *
 * A row is complete when every learner of its view has the model and one of them has written the held-out
 * error. A participant that died before it committed adopts the result of the round, or of a later one, from
 * a peer: it counts, and so does its encoding. A learner outside the view adopts results too, and does not
 * count.
 */
#pragma once

#include <jansson.h>

#include "common/base/err.h"
#include "common/base/types.h"
#include "common/report/record.h"

/* The learners that reported the view of an attempt. */
struct sl_round_members {
	sl_attempt a;
	uint64_t *who; /* bit set over the roster */
};

/* The parts of a round's time from the last trained model to the last commit. Each ends when the last learner
 * has: the view, all of its shares, released, mixed, committed. */
enum sl_round_part { SL_PART_AGREE, SL_PART_SHARE, SL_PART_READY, SL_PART_MIX, SL_PART_CONFIRM, SL_PARTS };

struct sl_round_row {
	sl_round round;
	sl_attempt attempt;	  /* that committed; 0: none yet */
	uint32_t roster;	  /* learners of the roster */
	uint32_t step;		  /* of the schedule, counted from 1 as played; 0: not yet known */
	uint32_t learners, edges; /* of the view */
	uint32_t committed;	  /* learners of the view that have its model, or a later one */
	uint64_t *who;		  /* bit set over the roster: those learners */
	uint64_t *shown;	  /* learners that adopted its result, or a later one */
	uint64_t *passed;	  /* learners that adopted a later one: they may never have had this model */
	struct sl_round_members *members;
	uint32_t attempts; /* of `members` */
	char mixing[12];   /* engine */
	uint64_t steps;	   /* exchanges */
	double mu;	   /* NaN: the engine needs none */
	uint32_t decimals; /* as agreed */
	bool decimals_known;
	enum sl_values values;	     /* of the encoding */
	uint32_t bits;		     /* of the first limb of a value, without decimals */
	double mse, margin;	     /* mse: NaN where the trainer has none; margin: the largest */
	uint64_t bytes, bytes_most;  /* sent in this round: by all of them, by the busiest */
	uint64_t clamped;	     /* parameters that were clamped, of all learners */
	uint64_t rounded;	     /* tensors that were rounded to 0 as a whole, at the learner with most */
	double train_s, aggregate_s; /* the slowest training; from the last `trained` to the last commit */
	double trained_ms, committed_ms;
	double begun_ms[SL_PARTS]; /* when the last learner came to a part; 0: not known. Of AGREE: trained_ms
				    */
	double cpu_s;		   /* of all learners, since their last commit */
	uint64_t peak_bytes;	   /* the largest learner's memory */
	char digest[2 * SL_HASH_BYTES + 1]; /* of the first that committed */
	bool mse_known, same;		    /* same: all digests are equal */
	uint64_t first_ms;		    /* when its first commit was heard */
	bool verified;			    /* recomputed, and found the same bits */
	bool check_failed;		    /* recomputed, and not found so */
	bool exact;
	json_t *metrics; /* {"learner-01": {"loss": 0.41}}: of applications; NULL: none */
};

struct sl_round_table {
	struct sl_round_row *rows; /* rows[t - 1] */
	uint32_t count, room;
	uint32_t learners; /* of the roster */
	sl_round most;	   /* T */
	sl_round first;	   /* rounds up to this one belong to an earlier launch, and are not shown */
};

void sl_round_table_init(struct sl_round_table *rounds, uint32_t learners, sl_round most);
void sl_round_table_close(struct sl_round_table *rounds);

/* Return the row of round t, made if it is new; NULL if it is not a round of this run. */
struct sl_round_row *sl_round_table_at(struct sl_round_table *rounds, uint64_t t);

void sl_round_table_trained(struct sl_round_row *row, const struct sl_record *record);
/* Keep the metrics of a `trained` record of an application, in place of those of an earlier training. */
void sl_round_table_metrics(struct sl_round_row *row, const char *learner, const json_t *record);
/* Return the mean of metric `name` over the learners that reported it; NaN: none. */
double sl_round_table_metric(const struct sl_round_row *row, const char *name);
void sl_round_table_view(struct sl_round_row *row, const struct sl_record *record);
/* Return true if this is the first commit of the round. `learner` is an index in the roster. */
bool sl_round_table_committed(struct sl_round_row *row, uint32_t learner, const struct sl_record *record);
/* The same for a learner of which only the digest is known, since it died before it wrote the record. */
bool sl_round_table_adopted(struct sl_round_row *row, uint32_t learner, const char *digest);
/* The learner adopted this result from a peer. */
void sl_round_table_shown(struct sl_round_row *row, uint32_t learner, const char *digest);
/* The learner has a later result; whether it ever had this one is not known. */
void sl_round_table_passed(struct sl_round_row *row, uint32_t learner);
/* The learner is in the view of attempt `a`. */
void sl_round_table_member(struct sl_round_row *row, uint32_t learner, sl_attempt a);
void sl_round_table_evaluated(struct sl_round_row *row, const struct sl_record *record);

/* Add the learners of the view that have neither this model nor a later one to `set`; false: not all of them
 * are known. */
bool sl_round_table_absent(const struct sl_round_row *row, uint64_t *set);

static inline uint32_t sl_round_table_missing(const struct sl_round_row *row)
{
	return row->learners > row->committed ? row->learners - row->committed : 0;
}

static inline bool sl_round_table_complete(const struct sl_round_row *row)
{
	return row->committed > 0 && row->committed >= row->learners && row->mse_known;
}

#define SL_MARGIN_MOST 0.375 /* from 3/8 on, rounding may have taken the wrong integer */

/* Return true if all digests are equal and the margins leave no doubt: as much as is known without the
 * encodings. */
static inline bool sl_round_table_agreed(const struct sl_round_row *row)
{
	return row->same && row->margin < SL_MARGIN_MOST;
}

/* What a learner clamped last. */
struct sl_round_clamped {
	sl_round round;
	uint64_t count;
};
/* Count the parameters that a learner clamped. Every attempt encodes again: the count of the last one
 * stands. */
void sl_round_table_clamped(struct sl_round_row *row, struct sl_round_clamped *last, uint64_t count);

/* Note the tensors that a learner's encoding rounded to 0 as a whole. */
void sl_round_table_encoded(struct sl_round_row *row, const struct sl_record *record);

/* Return the seconds of each part; false: not all of them are known. */
bool sl_round_table_parts(const struct sl_round_row *row, double seconds[static SL_PARTS]);
extern const char *const sl_round_table_part_names[SL_PARTS]; /* "agree" */

/* Fields of a JSON object, such as a reply of the control socket; 0, or `otherwise`, where there is none. */
double sl_round_table_field_real(const json_t *record, const char *name);
uint64_t sl_round_table_field_whole(const json_t *record, const char *name, uint64_t otherwise);
const char *sl_round_table_field_text(const json_t *record, const char *name, const char *otherwise);
