/* rounds.h - what a timeline keeps of the records: rounds x learners.
 *
 *	timeline --> round --> attempt    the view: participants, edges, mixing        (one for all learners)
 *	                 \---> part       phases, waits, commit of one learner         (one for each learner)
 *
 * The lists of a round are bounded, so that a log of any length or content takes bounded memory per round:
 * what exceeds a bound is left out. A place of a learner is its index in `learners`, in the order of their
 * first records; ids are those of the roster. Times are seconds since 1970, by the clock of the learner.
 */
#pragma once

#include <jansson.h>

#include "common/base/limits.h"
#include "common/protocol/phase.h"

#define SL_ENTRIES_MOST 1024u
#define SL_WAITS_MOST 256u
#define SL_FAILURES_MOST 64u
#define SL_ATTEMPTS_KEPT 256u
#define SL_NOTES_MOST 20u
#define SL_STARTS_MOST 1024u   /* of a learner in the run */
#define SL_VIEW_TEXT_BYTES 17u /* 16 digits */
#define SL_MIXING_BYTES 16u

/* A phase was entered; SL_PHASE_COUNT: none, the learner is between two rounds or two attempts. */
struct sl_entry {
	double at;
	uint32_t attempt;
	uint8_t phase;
};

struct sl_round_wait {
	double from, to, seen; /* seen: its last record */
	bool ended;	       /* `to` is known */
	double first_s;	       /* how long it had lasted at its first record */
	uint8_t phase;
	uint32_t attempt;
	char *what; /* what the learners are to do */
	uint64_t *ids;
	uint32_t count;
};

struct sl_failure {
	double when;
	uint32_t attempt;
	bool elsewhere; /* it only followed others */
	char *reason;
};

struct sl_traffic {
	uint64_t peer, sent, received; /* id; bytes */
};

struct sl_own_view {
	uint32_t attempt, row; /* place in round->attempts */
};

/* A learner in a round. */
struct sl_part {
	struct sl_entry *entries; /* in the order of time */
	struct sl_round_wait *waits;
	struct sl_failure *failures;
	struct sl_traffic *traffic;
	struct sl_own_view *views;
	uint32_t entry_count, wait_count, failure_count, traffic_count, view_count;
	bool trained, committed, adopted; /* adopted: the result was sent by a peer */
	bool resumed;			  /* it was restarted in an attempt: its phases are no bounds */
	uint32_t attempt;		  /* that committed */
	double commit;			  /* or when the result was adopted */
	double trained_at;
	double train_s, loss, mse, margin; /* NaN: not known */
	uint64_t sent, received;	   /* bytes since the last commit */
	char digest[SL_VIEW_TEXT_BYTES];   /* the first digits */
	json_t *metrics;
};

/* An attempt with its view; two views of one attempt number are two. */
struct sl_attempt_row {
	uint32_t attempt;
	char view[SL_VIEW_TEXT_BYTES]; /* "": none was agreed */
	uint64_t *ids;		       /* participants, ascending */
	uint32_t count;
	uint64_t *adjacent; /* a bit set over the participants for each of them: edges that a log tells of */
	uint64_t edges;	    /* of the view: those without a log too */
	char mixing[SL_MIXING_BYTES];
	uint64_t steps;
	int64_t tolerance, atom; /* the least of all learners; -1: not known */
	char *recovering;	 /* why it went on without mixing */
};

/* The spread of the states after `step` exchanges: the largest of all learners. */
struct sl_round_spread {
	uint64_t step;
	double spread, bound;
};

struct sl_note {
	uint64_t learner;
	char *level, *event, *text;
};

struct sl_timeline_round {
	uint64_t t, version;
	struct sl_part **parts; /* by place; NULL: no record */
	uint32_t part_count;
	struct sl_attempt_row *attempts;
	uint32_t attempt_count;
	struct sl_round_spread *spreads; /* ascending by step; at most SL_SPREADS_MAX */
	uint32_t spread_count, spread_attempt;
	struct sl_note *notes;
	uint32_t note_count;
	bool exposed; /* an attempt went on although its privacy check had failed */
};

struct sl_timeline_learner {
	uint64_t id;
	char name[SL_NAME_BYTES];
	double last;	     /* record */
	uint64_t last_round; /* that a record names */
	double *starts;	     /* of its program */
	uint32_t start_count;
};

struct sl_timeline {
	char *run;
	uint64_t rounds_most;		  /* T; 0: not known */
	struct sl_timeline_round *rounds; /* ascending */
	size_t count;
	size_t parts, parts_most;	      /* of all rounds; parts_most 0: any number */
	uint64_t dropped_to;		      /* rounds up to this one were dropped for new ones */
	struct sl_timeline_learner *learners; /* by place */
	uint32_t *order;		      /* places, ascending by id */
	uint32_t learner_count;
	uint64_t version;
	double start; /* of the run: its first record; INFINITY: none */
};

/* Return memory for one item more; `count` items are in use. */
void *sl_rounds_grow(void *items, size_t count, size_t size);

/* Return the first of `count` items whose key is not below `key`, or `count`. `key_at` returns the key of
 * item `i` of `items`; they are ascending. */
size_t sl_rounds_search(const void *items, size_t count, uint64_t key,
			uint64_t (*key_at)(const void *items, size_t i));

/* Return the place of a learner; a new one if it has no record yet. */
uint32_t sl_rounds_learner(struct sl_timeline *timeline, uint64_t id);
/* Return its place, or UINT32_MAX if it has no record. */
uint32_t sl_rounds_find_learner(const struct sl_timeline *timeline, uint64_t id);
/* Return the first round not before t, as a place in `rounds`. */
size_t sl_rounds_place(const struct sl_timeline *timeline, uint64_t t);
/* Return round t, made if it is new. */
struct sl_timeline_round *sl_rounds_at(struct sl_timeline *timeline, uint64_t t);
/* Return round t, or NULL. */
struct sl_timeline_round *sl_rounds_find(const struct sl_timeline *timeline, uint64_t t);
/* Return the part of the learner at `place`, made if it is new. */
struct sl_part *sl_rounds_part(struct sl_timeline *timeline, struct sl_timeline_round *round, uint32_t place);
/* Drop the first rounds if there are more parts than `parts_most`. */
void sl_rounds_drop(struct sl_timeline *timeline);
/* Return the attempt with a view ("": none), made if it is new; NULL: there are too many. */
struct sl_attempt_row *sl_rounds_attempt(struct sl_timeline_round *round, uint32_t attempt, const char *view);
/* Return the attempt of a learner: that of the view which it reported, or the one without a view. */
struct sl_attempt_row *sl_rounds_own_attempt(const struct sl_timeline_round *round,
					     const struct sl_part *part, uint32_t attempt);
/* Return the position of a participant, or UINT32_MAX. */
uint32_t sl_rounds_position(const struct sl_attempt_row *row, uint64_t id);
