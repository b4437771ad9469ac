/* launch.h - `starling launch`: N daemons on this machine, the radio between them, and what they make of it.
 *
 * One libuv loop. Records of the daemons come in over their control sockets (control_client), are put
 * together into rounds (rounds), move the radio (launch_radio) and show as progress; whatever ends the run -
 * the last round, a failure, a signal - goes through sl_launch_end, after which the loop runs on until no
 * child is left.
 *
 *	starting --all connected--> running --last round, failure, signal--> ending --no child, no handle-->
 * over
 *
 * The launcher is no coordinator: it tells each learner who is in range, and otherwise only listens.
 */
#pragma once

#include <uv.h>

#include "common/core/phase.h"
#include "daemon/settings.h"
#include "tools/control_client.h"
#include "tools/progress.h"
#include "tools/rounds.h"
#include "tools/run_folder.h"
#include "tools/schedule.h"

struct sl_launch_options {
	const char *program; /* as the user called it */
	uint32_t learners;   /* 0: not said */
	uint32_t rounds;     /* 0: not said */
	const char *topology; /* NULL: not said */
	const char *data;    /* NULL: not said */
	const char *run_dir; /* NULL: ./run-YYYYmmdd-HHMMSS */
	uint64_t seed;
	bool seed_said;
	double step_s;
	bool verify, json;
	const char **set; /* "KEY=VALUE" */
	size_t sets;
};

/* What is known before the first daemon starts. */
struct sl_plan {
	struct sl_launch_options options;
	struct sl_schedule schedule;
	struct sl_run_folder folder;
	struct sl_settings settings; /* of the first learner */
	uint32_t learners, quorum;
	uint64_t p;
	const char *topology;
};

/* Reads the schedule, makes and fills the run folder, and checks everything that can be checked now. After an
 * error nothing is left behind. warn: disconnected steps. */
int sl_plan_make(struct sl_plan *plan, const struct sl_launch_options *options, struct sl_progress *progress,
		 struct sl_error *error);
void sl_plan_close(struct sl_plan *plan);

/* launch_gate.c: warns of the steps that the gate will refuse; SL_ERR_REFUSED when that is all of them. */
int sl_plan_gate(struct sl_plan *plan, struct sl_progress *progress, struct sl_error *error);

/* The encoding of the run, for the p bound and for decoding; the weight is nobody's. */
struct sl_encoding sl_plan_encoding(const struct sl_plan *plan);

enum sl_activity { SL_TRAINING, SL_SEEKING, SL_WORKING }; /* training | looking for a view | in one */

struct sl_launch;

struct sl_learner {
	struct sl_launch *launch;
	uint32_t index; /* in the roster: id - 1 */
	char name[SL_NAME_BYTES];
	char folder[PATH_MAX];
	uv_process_t process;
	bool spawned, exited, reported;
	int64_t exit_status;
	int exit_signal;
	struct sl_client control;
	bool connected;	  /* has been */
	uint64_t lost_ms; /* when the connection ended; 0: it has not */
	char lost_why[64];
	enum sl_activity activity;
	sl_round committed; /* the last one */
	sl_round round;	    /* what `status` said, for the bar */
	enum sl_phase phase;
	double part;
	sl_round clamped_round; /* the last one in which it clamped, and how many parameters */
	uint64_t clamped;
};

struct sl_launch {
	struct sl_plan *plan;
	struct sl_progress *progress;
	uv_loop_t loop;
	uv_timer_t tick;
	uv_signal_t signals[3];
	struct sl_learner *learners;
	uint32_t connected, running; /* running: children that are not reaped */
	uint64_t started_ms, last_tick_ms;
	uint32_t ticks, polled;

	struct sl_rounds rounds;
	uint32_t handed; /* rounds that are complete and printed */

	uint32_t step;		     /* steps begun, from 1; 0: none yet */
	uint32_t barren;	     /* steps in a row that passed without a commit */
	double idle_s;		     /* under this step: nobody trained and nobody was in a view */
	char reason[SL_ERROR_BYTES]; /* why the last attempt failed */

	bool ending;
	uint64_t end_ms;
	int end_stage; /* 0 asked to stop, 1 SIGTERM, 2 SIGKILL */
	int signal;    /* that interrupted the run; 0: none */
	char error[SL_ERROR_BYTES + PATH_MAX];
	bool failed;
	bool unwritten; /* summary.json */
};

/* Runs the plan to its end: the exit status. */
int sl_launch_run(struct sl_plan *plan, struct sl_progress *progress);

/* launch_child.c: processes */
/* If it has ended before its time, and all that it said is heard: fails the run. */
void sl_child_judge(struct sl_learner *learner);
int sl_child_spawn(struct sl_learner *learner, const char *program, struct sl_error *error);
void sl_child_program(char program[static PATH_MAX]);
/* "learner-03 ended with status 1" and what it last said. */
void sl_child_explain(const struct sl_learner *learner, char *text, size_t size);
void sl_child_kill_all(struct sl_launch *launch, int signal);

/* launch_hear.c: records and replies of the daemons */
extern const struct sl_client_events sl_learner_events;

/* launch_radio.c: who is in range */
void sl_radio_next(struct sl_launch *launch); /* the next step, to everybody */
void sl_radio_tell(struct sl_launch *launch,
		   uint32_t index); /* the current step, to one that has just come */
void sl_radio_tick(struct sl_launch *launch, double elapsed_s); /* replaces a step that leads nowhere */

/* launch.c: how it ends */
void sl_launch_fail(struct sl_launch *launch, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sl_launch_end(struct sl_launch *launch);
void sl_launch_round_done(struct sl_launch *launch, struct sl_round_row *row);

/* launch_result.c: after the last child has ended; the exit status */
int sl_launch_result(struct sl_launch *launch);

/* launch_show.c: the bar */
void sl_launch_poll(struct sl_launch *launch);
void sl_launch_show(struct sl_launch *launch);
enum sl_phase sl_phase_find(const char *name); /* TRAIN for what is none */

/* summary.c */
json_t *sl_summary(const struct sl_launch *launch);
bool sl_all_exact(const struct sl_launch *launch);
