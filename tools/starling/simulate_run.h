/* simulate_run.h - `starling simulate`: the rounds of `starling launch`, by the in-process runner.
 *
 * Reports of the cores become the log records of daemons, and these the same table of rounds as in launch.
 */
#pragma once

#include "common/config/roster.h"
#include "tools/launch/launch.h"
#include "tools/runner/runner.h"

struct sl_simulation_options {
	struct sl_launch_options plan; /* learners, rounds, topology, data, seed, verify, json, set */
	const char *csv, *save;	       /* file, folder; NULL: none */
	const char *trained, *states;  /* folder, file; NULL: none */
	uint32_t coordinates[SL_RUNNER_COORDINATES_MAX], coordinate_count; /* of `states`, ascending */
};

/* Progress of a learner in the round. */
struct sl_simulated {
	double train_s;
	uint64_t bytes; /* sent until its last commit */
	struct sl_round_clamped clamped;
};

struct sl_simulation {
	const struct sl_simulation_options *options; /* borrowed */
	struct sl_plan plan;
	struct sl_progress *progress;
	struct sl_pace pace; /* of the rounds */
	struct sl_trainer **trainers;
	float *initial;
	double mse_initial; /* NaN: the trainer has none */
	struct sl_runner *runner;
	struct sl_roster roster; /* for names */
	struct sl_simulated *learners;
	struct sl_round_table rounds;
	uint32_t handed; /* rounds that are shown */
	double begun_s, seconds;
	double cpu_s;			/* of the process, when the last round was shown */
	struct sl_runner_figures spent; /* .. and of the learners */
	char reason[SL_ERROR_BYTES];	/* why the last attempt failed */
	struct sl_error error;		/* that ended the run */
	int signal;			/* that did; 0: none */
	FILE *csv, *states;		/* NULL: none */
	const char *save;		/* NULL: nothing more to save */
	bool save_made;			/* its folder, here and now: goes again when nothing is saved */
};

/* Check all options and read the data. After an error nothing is left behind. */
int sl_simulate_open(struct sl_simulation *simulation, const struct sl_simulation_options *options,
		     struct sl_progress *progress, struct sl_error *error);
/* Run to the end and print the result; return the exit status. */
int sl_simulate_run(struct sl_simulation *simulation);
void sl_simulate_close(struct sl_simulation *simulation);

/* simulate_records.c: callbacks of the runner */
void sl_simulate_committed(void *context, const struct sl_runner_commit *commit);
void sl_simulate_reported(void *context, uint32_t learner, const struct sl_report *report);
/* Show the complete rounds; at the end, the others too. */
void sl_simulate_rows(struct sl_simulation *simulation, bool end);

/* simulate_trace.c: --trained, --states */
int sl_simulate_trace_open(struct sl_simulation *simulation, struct sl_error *error);
int sl_simulate_trained(const struct sl_simulation *simulation, const struct sl_runner_training *training,
			struct sl_error *error);
void sl_simulate_sampled(void *context, const struct sl_runner_sample *sample);

/* simulate_result.c */
void sl_simulate_csv_row(const struct sl_simulation *simulation, const struct sl_round_row *row);
int sl_simulate_result(struct sl_simulation *simulation);
