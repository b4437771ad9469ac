/* run.h - rounds of the in-process runner for a part of the report: every commit is compared with plain sums.
 *
 * The sums are made here of the models as they are trained, with the encoding alone: shares, mixing and
 * rounding must come to the same. A run owns its sums, traces and trainers; the plan is borrowed.
 */
#pragma once

#include "common/model/trainer.h"
#include "tools/paper/paper.h"
#include "tools/paper/trace.h"

#define SL_RUN_SET_BYTES 256u

struct sl_run_plan {
	const char *what; /* for progress: "40 neighbours" */
	uint32_t learners;
	size_t parameters;			 /* of a random model, where `data` is NULL */
	const char *topologies[SL_PAPER_ROUNDS]; /* of the steps, "regular:40"; none: complete */
	char set[SL_RUN_SET_BYTES];		 /* "KEY=VALUE" settings, separated by blanks */
	const char *data;			 /* to train an autoencoder on; NULL: models from [-1, 1] */
	const uint32_t *coordinates;		 /* ascending: coordinates of the traces */
	uint32_t coordinate_count;		 /* 0: no traces */
	uint32_t shown;				 /* the traced coordinate in figures */
};

struct sl_run_round {
	uint64_t *sum;	 /* n+1: of the encodings, mod p */
	double *mean;	 /* n: of the floats, without any encoding */
	uint64_t *z;	 /* n+1: as last committed */
	float *model;	 /* n: the same, decoded */
	uint64_t *truth; /* sums of the traced coordinates */
	struct sl_trace trace;
	uint32_t commits; /* learners that have committed */
	uint64_t wrong;	  /* elements of their Z that are not the sum */
};

struct sl_run {
	const struct sl_run_plan *plan;
	struct sl_schedule schedule;
	struct sl_settings settings;
	struct sl_field field;
	struct sl_encoding encoding;
	struct sl_trainer **trainers; /* of all learners, or NULL */
	size_t parameters;
	float *initial;			/* the model before the first round */
	struct sl_run_round *rounds;	/* settings.rounds, the first at 0 */
	uint64_t *encoded;		/* n+1 */
	uint64_t k;			/* of the last commit */
	double seconds[SL_PHASE_COUNT]; /* of processor time, of all learners and rounds */
};

/* Open a run; *run needs closing after an error as well. */
int sl_run_open(struct sl_run *run, const struct sl_run_plan *plan, struct sl_error *error);
void sl_run_close(struct sl_run *run);

/* Play the rounds and check them. SL_PENDING: ended by the user. */
int sl_run_play(struct sl_run *run, struct sl_paper *r, struct sl_error *error);
/* Open and play. */
int sl_run_start(struct sl_run *run, const struct sl_run_plan *plan, struct sl_paper *r,
		 struct sl_error *error);

/* Compare a commit with the plain sum of its round: for sl_run_play, and for tests. */
void sl_run_committed(struct sl_run *run, const struct sl_runner_commit *commit);
/* Report each wrong or missing result (sl_paper_broken). */
void sl_run_check(const struct sl_run *run, struct sl_paper *r);

/* Return processor seconds of a learner in a round, of the phases from `first` to `last`. */
double sl_run_seconds(const struct sl_run *run, enum sl_phase first, enum sl_phase last);

/* The graph that a topology names; close it after an error as well. */
struct sl_run_graph {
	struct sl_graph graph;
	void *memory;
};
int sl_run_graph_open(struct sl_run_graph *graph, const char *topology, uint32_t learners,
		      struct sl_error *error);
void sl_run_graph_close(struct sl_run_graph *graph);
