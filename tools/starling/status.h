/* status.h - what `starling status` knows of a learner, and how it shows it.
 *
 * A learner that runs answers with its status (common/report/status_table.h). One that has ended is described
 * by the end of its log. Of a peer that was not asked, other learners tell what it said last: second-hand.
 */
#pragma once

#include "common/base/types.h"
#include "tools/lib/learners.h"

/* From the best to the worst. */
enum sl_status_state {
	SL_STATUS_RUNNING,
	SL_STATUS_FINISHED, /* ended after the last round */
	SL_STATUS_FORMING,  /* waits until its group has enough learners */
	SL_STATUS_WAITING,  /* waits for its first program; or starts, and has no control socket yet */
	SL_STATUS_OVERDUE,  /* waits beyond a deadline */
	SL_STATUS_SILENT,   /* does not answer, or cannot be asked: it may run */
	SL_STATUS_NEW,	    /* is set up, does not run and has begun no round */
	SL_STATUS_STOPPED,
	SL_STATUS_STATES /* number of them */
};

struct sl_status_row {
	struct sl_control_query *asked;
	enum sl_status_state state;
	const json_t *status; /* its answer, borrowed; NULL unless it runs, answers and takes part */
	json_t *last;	      /* its last log record; NULL: unknown, or it answers */
	bool ended;	      /* the last record says why the learner ended */
	bool finished;	      /* the log says that all rounds are committed */
	sl_round committed;   /* as answer or log say */
	sl_round rounds;      /* 0: unknown */
};

struct sl_status_all {
	struct sl_learners of;
	struct sl_status_row *rows; /* one for each of `of`, in its order */
	sl_round verified;	    /* of a launched run: rounds that the launcher has recomputed; 0: none */
};

void sl_status_open(struct sl_status_all *all, struct sl_learners_options *options);
/* Ask all. */
void sl_status_read(struct sl_status_all *all);
void sl_status_close(struct sl_status_all *all);

/* Count the learners of each state. */
void sl_status_count(const struct sl_status_all *all, size_t counts[static SL_STATUS_STATES]);
/* Return 0 all progress, 1 one waits beyond a deadline or does not answer, 2 one has ended. */
int sl_status_exit(const struct sl_status_all *all);
/* Return true if no learner runs and one has finished. */
bool sl_status_over(const struct sl_status_all *all);
/* Return the document of --json. */
json_t *sl_status_json(const struct sl_status_all *all);

/* Return the name to show: that of the learner, or of its folder. */
const char *sl_status_name(const struct sl_status_row *row);
const char *sl_status_state_name(enum sl_status_state state);
/* Write what the learner waits for: "waits for ana (1) to send a digest"; "" if it does not run. */
void sl_status_wait(const struct sl_status_all *all, const struct sl_status_row *row, char *text,
		    size_t size);

/* Print to `out` in at most `height` lines (0: any number), the worst learners first if they do not fit. */
void sl_status_print(const struct sl_status_all *all, FILE *out, size_t width, size_t height);
/* Return the last committed round of the learner that is furthest behind, among those that run. */
sl_round sl_status_least(const struct sl_status_all *all);

/* Show again and again, until q or Ctrl-C; return the exit status of the last state. */
int sl_status_watch(struct sl_status_all *all, bool json);
