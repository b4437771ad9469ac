/* state.h - the state of a launch and of its learners, and what the files of this room do with it. */
#pragma once

#include <uv.h>

#include "common/protocol/phase.h"
#include "tools/launch/plan.h"
#include "tools/lib/control_client.h"

struct sl_launch;
struct sl_commands;
struct sl_recompute;

#define SL_ODD_CAUSES 8u   /* of learners that are left out */
#define SL_DEATHS_MOST 10u /* since the last commit: then the run ends */

enum sl_activity { SL_TRAINING, SL_SEEKING, SL_WORKING }; /* training | looking for a view | in one */

struct sl_learner {
	struct sl_launch *launch;
	uint32_t index; /* in the roster: id - 1 */
	char name[SL_NAME_BYTES];
	char folder[PATH_MAX];
	uv_process_t process;
	uint32_t starts;
	/* of its last start */
	size_t log_from, stderr_from; /* sizes of its log and stderr.txt at its start */
	bool spawned, exited, closed; /* closed: the handle is free for another process */
	bool judged, final;	      /* final: it logged an error that a restart cannot cure */
	uint32_t killed;	      /* which kill of --chaos that was; 0: none */
	bool lost;		      /* by --lose: it is not started again */
	int64_t exit_status;
	int exit_signal;
	bool connected;	   /* it takes part: it has answered with its status */
	uint64_t alone_ms; /* when it was started, or the connection ended */

	sl_round died_after;	/* its last commit before its last death */
	uint32_t deaths, early; /* after that commit; early: in a row, before it was up */
	uint64_t again_ms;	/* when it starts again; 0: it need not */
	struct sl_control_client control;
	bool told;   /* on this connection: its neighbours */
	bool was_up; /* .. since the start of the run */
	uint64_t heard_ms;
	enum sl_activity activity;
	sl_round committed;	  /* the last one */
	bool took_part;		  /* in a shown round: it did not only adopt results of others */
	bool spent;		  /* it ends, since it has no budget of privacy for more */
	char odd[SL_ERROR_BYTES]; /* how it differs from another learner; "": not known to */
	sl_round round;		  /* what `status` said, for the bar */
	enum sl_phase phase;
	double part;
	struct sl_round_clamped clamped;
	uint64_t differs[(SL_LEARNERS_MAX + 63) / 64]; /* set of those known to train another model */
	json_t *waiting;	/* its last record `waiting`; NULL: the learner has moved since */
	sl_round waiting_round; /* of that record, and */
	enum sl_phase waiting_phase;
};

/* How the last attempts failed: in one way since attempt `since` of the round. */
struct sl_failures {
	char how[SL_ERROR_BYTES];
	sl_round round;
	uint64_t since;	   /* 0: none has failed */
	sl_round reported; /* last round of which was said that its attempts fail in one way */
};

/* The kills of --chaos; a round's commit is the first one that is heard. */
struct sl_chaos {
	uv_timer_t timer;
	uint64_t random;	    /* state of the generator */
	uint64_t span_ms, round_ms; /* the shortest round so far; when this one began */
	uint32_t rounds;	    /* committed */
	uint32_t kills, unanswered; /* unanswered: since the last commit */
	uint64_t first_ms, last_ms; /* the first of the unanswered; the last of all */
	uint64_t after_ms;	    /* from the last kill to the next commit */
	uint64_t longest_ms;	    /* from the first of some kills to the next commit */
};

enum sl_end { SL_END_DUE, SL_END_ASKED, SL_END_TERM, SL_END_KILL };

struct sl_launch {
	struct sl_plan *plan;
	struct sl_progress *progress;
	uv_loop_t loop;
	uv_timer_t tick;
	uv_signal_t signals[3];
	struct sl_learner *learners;
	uint32_t was_up, running; /* learners that have been up; children that are not reaped */
	char program[PATH_MAX];	  /* of a learner */
	uint32_t restarts;
	struct sl_chaos chaos;
	uint64_t last_tick_ms;
	uint32_t ticks, polled;

	struct sl_round_table rounds;
	uint32_t handed;   /* rounds that are printed */
	uint32_t ripe;	   /* rounds that may be printed: with --verify, when their check has ended */
	sl_round asked;	   /* rounds of the plan, if the applications have agreed to stop before; 0: they have
			      not */
	bool spent;	   /* .. or the next round would exceed the privacy budget of a learner */
	sl_round verified; /* last round that is exact by its dumped models */

	uint32_t step;		     /* steps begun, from 1; 0: none yet */
	uint32_t barren;	     /* steps in a row that passed without a commit */
	double idle_s;		     /* under this step: no learner trained or was in a view */
	char reason[SL_ERROR_BYTES]; /* why the last attempt failed */
	const char *odd;	     /* how a learner differs from another one; NULL: none is known to */
	char odd_causes[SL_ODD_CAUSES][SL_NAME_BYTES]; /* that were said */
	struct sl_failures failures;
	bool warned;	 /* that models are encoded too coarsely */
	sl_round frozen; /* the last round for which a tensor was named that is rounded to 0 as a whole */
	uint64_t moved_ms, wait_said_ms; /* last progress of any learner; last printed wait, 0: none */
	uint64_t late_said_ms;		 /* .. for commands after the last round, 0: none */
	uint64_t told_ms;		 /* last line about a round: its own, or one of sl_launch_show */

	struct sl_pace pace; /* of the rounds */
	bool ending;
	uint64_t end_ms;
	enum sl_end end; /* how far the learners are asked to end */
	int signal;	 /* that interrupted the run; 0: none */
	char error[SL_ERROR_BYTES + PATH_MAX];
	bool failed;
	bool unwritten;			/* summary.json */
	struct sl_launch_web *web;	/* the live page; NULL: none */
	struct sl_commands *commands;	/* applications; NULL: none */
	struct sl_recompute *recompute; /* of --verify; NULL: none */
	bool command_failed;		/* that is why the run failed */
};

/* child.c: processes */
int sl_child_spawn(struct sl_learner *learner, struct sl_error *error);
/* Write the launcher's own process id into the run folder, or remove it. */
void sl_child_own_pid(const struct sl_launch *launch, bool runs);
void sl_child_program(char program[static PATH_MAX]);
/* Write "learner-03 (3) ended with status 1 in round 4: " and its last error; with `lines` the last lines of
 * its standard error below that. */
void sl_child_explain(const struct sl_learner *learner, bool lines, char *text, size_t size);
/* Return the text of its last warning about the command of trainer: exec, malloced; NULL: none. */
char *sl_child_command_warning(const struct sl_learner *learner);
/* Return what the learner has logged of the end of its privacy budget since its start, malloced, and before
 * which round it ended; NULL: nothing. */
char *sl_child_spent(const struct sl_learner *learner, sl_round *round);
void sl_child_kill_all(struct sl_launch *launch, int signal);

/* restart.c: deaths and new starts */
/* Judge the learners that have ended, and start those again whose pause is over. */
void sl_restart_tick(struct sl_launch *launch, uint64_t now);
bool sl_restart_pending(const struct sl_launch *launch);

/* web.c: the live page */
/* Start the page, which prints its address; the run goes on without one. */
void sl_launch_web_open(struct sl_launch *launch);
/* Let the page show the end, write the report, and end; the loop runs until it has. */
void sl_launch_web_let_go(struct sl_launch *launch);

/* chaos.c: the kills of --chaos */
void sl_chaos_open(struct sl_launch *launch);
void sl_chaos_close(struct sl_launch *launch);
void sl_chaos_begin(struct sl_launch *launch); /* all are up */
void sl_chaos_committed(struct sl_launch *launch);
void sl_chaos_say(struct sl_launch *launch);
json_t *sl_chaos_json(const struct sl_launch *launch);

/* records.c: records and replies of the learners */
extern const struct sl_control_client_events sl_records_events;
void sl_records_spent(struct sl_learner *l, sl_round t, const char *text); /* it ends before round t */

/* rows.c: which rounds are shown */
bool sl_rows_pending(const struct sl_launch *launch); /* some learner has committed the next one */
void sl_rows_tick(struct sl_launch *launch);
bool sl_rows_checking(const struct sl_launch *launch); /* the check of a round is under way */
/* The learner has reported something of a round that may be shown already. */
void sl_rows_late(struct sl_learner *learner, struct sl_round_row *row);

/* adopt.c: look up the rounds up to t, which the learner committed without reporting them */
void sl_adopt(struct sl_learner *learner, sl_round t);

/* playback.c: play the schedule */
/* The first learner has committed the round. */
void sl_playback_committed(struct sl_launch *launch, struct sl_round_row *row);
void sl_playback_tell(struct sl_launch *launch, uint32_t index); /* send the current step to one learner */
void sl_playback_tick(struct sl_launch *launch,
		      double elapsed_s); /* replace a step in which no round commits */

/* end.c: what ends the run */
/* All rounds are shown: let the learners end. */
void sl_launch_finish(struct sl_launch *launch);
void sl_launch_fail(struct sl_launch *launch, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* wait.c: why the run makes no progress */
void sl_wait_heard(struct sl_learner *learner, const struct sl_record *record);
/* The phase of the wait has ended. */
void sl_wait_over(struct sl_learner *learner);
/* The learner has made progress. */
void sl_wait_moved(struct sl_learner *learner);
void sl_wait_tick(struct sl_launch *launch, uint64_t now);
/* Write which learners the run waits for, "waits for learner-03 (3)", and return true, if no learner has
 * moved for a second. */
bool sl_wait_note(const struct sl_launch *launch, char *note, size_t size);
void sl_wait_close(struct sl_launch *launch);

/* result.c: write and print the result after the last learner has ended; return the exit status */
int sl_launch_result(struct sl_launch *launch);
/* Print a command line that can be copied: this program with `command` and the run folder. */
void sl_launch_command(struct sl_launch *launch, const char *lead, const char *command);

/* show.c: the bar */
void sl_launch_poll(struct sl_launch *launch);
void sl_launch_show(struct sl_launch *launch);

/* recompute.c: the program that recomputes means for --verify */
/* Start it, and wait until it is ready. Without an error text it has printed why it cannot start. */
int sl_recompute_open(struct sl_launch *launch, struct sl_error *error);
/* Send a request, whose reference is taken over. */
void sl_recompute_ask(struct sl_launch *launch, json_t *request);
/* Return the answer of a round, for the caller to release; NULL: it is not there yet. */
json_t *sl_recompute_take(struct sl_launch *launch, sl_round round);
/* Let it end: at once, if it still computes. The loop runs until it has. */
void sl_recompute_let_go(struct sl_launch *launch);
void sl_recompute_free(struct sl_launch *launch);

/* dumps.c: the models that learners dump for --verify */
/* Ask for the check of the round. */
void sl_dumps_ask(struct sl_launch *launch, const struct sl_round_row *row);
/* Take the result of the check into the row, and return true; false: it is not there yet. `error` tells why
 * the mean is not recomputed, or that it is another one. */
bool sl_dumps_check(struct sl_launch *launch, struct sl_round_row *row, struct sl_error *error);
/* Delete the models of a round. */
void sl_dumps_delete(const struct sl_launch *launch, sl_round round);
/* Delete those of the run, but for rounds whose check failed. */
void sl_dumps_end(const struct sl_launch *launch);

/* progress_file.c: RUN/progress.txt, for --resume */
void sl_progress_file_write(const struct sl_launch *launch);
/* Set shown, step, verified and idle of the plan; return false if the file is missing or damaged. */
bool sl_progress_file_read(struct sl_plan *plan);

/* resume.c: set what the learners of `launch` have committed before. */
void sl_resume_begin(struct sl_launch *launch);

/* summary.c */
json_t *sl_summary(const struct sl_launch *launch);
/* Return true if rounds are shown, and all of them are exact (or verified). */
bool sl_summary_all(const struct sl_launch *launch, bool verified);
