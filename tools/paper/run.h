/* run.h - rounds of the in-process runner for a part of the report: every commit is checked against plain
 * sums.
 *
 * The sums are made here, of the models as they are trained, with nothing but the encoding: what all the
 * shares, the mixing and the rounding have to come to. A run owns them, and the traces; the plan is borrowed.
 */
#pragma once

#include "common/model/trainer.h"
#include "tools/paper/reproduce.h"
#include "tools/paper/trace.h"

struct sl_run_plan {
	const char *what; /* for progress: "40 neighbours" */
	uint32_t learners;
	size_t parameters;
	const struct sl_schedule *schedule; /* NULL: complete */
	const char *mixing;		    /* the engine */
	const char *const *set;		    /* "KEY=VALUE", ending in NULL; p a number, weights equal */
	const uint32_t *coordinates;	    /* ascending: what traces are of */
	uint32_t coordinate_count;	    /* 0: no traces */
	uint32_t shown;			    /* which of them pictures show */
	struct sl_trainer *const *trainers; /* learners; NULL: models are drawn from [-1, 1] */
};

struct sl_run_round {
	uint64_t *sum;	 /* n+1: of the encodings, mod p */
	double *mean;	 /* n: of the floats, without any encoding */
	uint64_t *z;	 /* n+1: as last committed */
	float *model;	 /* n: the same, decoded */
	uint64_t *truth; /* of the coordinates */
	struct sl_trace trace;
	uint32_t commits; /* learners that have committed */
	uint64_t wrong;	  /* elements of their Z that are not the sum */
};

struct sl_run {
	const struct sl_run_plan *plan;
	struct sl_settings settings;
	struct sl_field field;
	struct sl_encoding encoding;
	struct sl_run_round *rounds;	/* settings.rounds, the first at 0 */
	uint64_t *encoded;		/* n+1 */
	uint64_t k;			/* of the last commit */
	double seconds[SL_PHASE_COUNT]; /* of processor time, of all learners and rounds */
	int code;			/* what went wrong in a callback that cannot say so */
};

/* How many strings there are up to NULL. */
size_t sl_run_set_count(const char *const *set);

int sl_run_open(struct sl_run *run, const struct sl_run_plan *plan, struct sl_error *error);
void sl_run_close(struct sl_run *run);

/* Plays the rounds. What is not right then is told to the report (sl_paper_broken). SL_PENDING: ended by the
 * user. */
int sl_run_play(struct sl_run *run, struct sl_paper *r, struct sl_error *error);

/* A commit against the plain sum of its round: for sl_run_play, and for tests. */
void sl_run_committed(struct sl_run *run, const struct sl_runner_commit *commit);
/* What of all rounds is not as it has to be is told to the report. */
void sl_run_check(const struct sl_run *run, struct sl_paper *r);
