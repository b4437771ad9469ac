/* bench.h - starling-bench: what a round costs on this machine, in named cases.
 *
 *   main.c      command line
 *   bench.c     the cases in turn
 *   cases.c     the table of cases
 *   show.c      results as text while the cases run, as JSON at the end
 *   kernels.c   arithmetic alone, in this process
 *   deposits.c  jobs on deposits
 *   analysis.c  graph analysis
 *   records.c   durable records
 *   monitoring.c  log records and metrics
 *   monitored.c  their part of a round
 *   daemons.c   real daemons, over loopback
 *   hosts.c     real daemons, on hosts with shaped links (hosts.h)
 *   bare.c      TLS with nothing around it, for comparison
 *   child.c     programs run for their output
 *
 * A case gives figures, each of several samples. The measured values are printed with their spread and with
 * the load of the machine; there are no targets. All files are written to one folder, which is removed at the
 * end.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "common/base/err.h"
#include "tools/dev/bench/figure.h"
#include "tools/dev/bench/machine.h"

#define SL_REPEAT_MOST 100u
static_assert(SL_REPEAT_MOST <= SL_SAMPLES_MOST, "every sample is kept");

struct sl_bench_options {
	const char *program;	  /* starling, to launch daemons with */
	const char *const *names; /* of the cases to run; count 0: all */
	size_t count;
	uint32_t repeat;
	bool json;
	char way[256]; /* "KEY=VALUE KEY=VALUE": settings of --set, for the cases on hosts; "": their own */
	const char *folder; /* in which the bench makes its own */
};

#define SL_FIGURES_MOST 48u
#define SL_NOTES_MOST 16u
#define SL_NOTE_BYTES 256u

/* The figures and notes of the running case so far. */
struct sl_bench_result {
	struct sl_figure figures[SL_FIGURES_MOST];
	uint32_t figure_count;
	char notes[SL_NOTES_MOST][SL_NOTE_BYTES];
	uint32_t note_count;
	double others; /* part of the machine that other programs took */
	double seconds;
};

struct sl_bench;

struct sl_bench_case {
	const char *name;
	const char *text; /* one line */
	/* SL_PENDING: interrupted. An error ends the case, not the bench. */
	int (*run)(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error);
	const void *details; /* of the run function's own kind */
};

extern const struct sl_bench_case sl_bench_cases[];
extern const size_t sl_bench_case_count;
/* Return true if `name` is the name of the case, or the first part of it: "hosts" of "hosts-far". */
bool sl_bench_case_is(const struct sl_bench_case *c, const char *name);
/* Return the first such case, or NULL. */
const struct sl_bench_case *sl_bench_case_find(const char *name);

struct sl_bench {
	struct sl_bench_options options;
	struct sl_machine machine;
	char folder[PATH_MAX];	/* its own */
	bool live;		/* progress is shown */
	const char *name;	/* of the case that runs */
	uint32_t number, cases; /* of the case that runs, from 1; of all that are wanted */
	struct sl_bench_result result;
	json_t *report; /* of the cases that have ended */
	bool failed;
};

/* Run the cases asked for; return the exit status. */
int sl_bench_run(struct sl_bench *bench);
/* Catch SIGINT, SIGTERM and SIGHUP, and pass them on to a running child. */
void sl_bench_watch_signals(void);
/* Return true after an interrupt. */
bool sl_bench_stopped(void);

/* ---- for the cases ---- */

/* Add a figure; name and unit are copied. */
struct sl_figure *sl_bench_figure(struct sl_bench *bench, const char *unit, const char *name, ...)
	__attribute__((format(printf, 3, 4)));
/* Add a figure of one sample: median over median. */
void sl_bench_ratio(struct sl_bench *bench, const struct sl_figure *above, const struct sl_figure *below,
		    const char *name);
/* Add a line below the figures. */
void sl_bench_note(struct sl_bench *bench, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Show the present step on a terminal; SL_PENDING after an interrupt. */
int sl_bench_at(struct sl_bench *bench, const char *what, uint32_t done, uint32_t of);

/* Delete a folder and its content. */
void sl_bench_take_away(const char *folder);

int sl_bench_kernels(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error);
int sl_bench_deposits(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error);
int sl_bench_instructions(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error);
int sl_bench_analysis(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error);
int sl_bench_records(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error);
int sl_bench_monitoring(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error);
int sl_bench_monitored(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error);
/* Add `samples` samples: microseconds of CPU for the metrics of a learner, as text. */
void sl_bench_monitoring_text(uint32_t samples, struct sl_figure *figure);
int sl_bench_exchange(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error);
int sl_bench_daemons(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error);
int sl_bench_hosts(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error);

/* ---- child.c ---- */

/* Run argv[0] (found on PATH) to its end, with "KEY=VALUE" more in its environment. *output: its standard
 * output, malloced. SL_ERR_NOTFOUND: there is no such program. The last line of its standard error is in the
 * error. */
int sl_bench_child(struct sl_bench *bench, const char *const *argv, const char *const *environment,
		   char **output, struct sl_error *error);
/* Wait for the end of a child, to which signals are passed on; return the status of waitpid. */
int sl_bench_child_await(pid_t child);
/* Interrupt the running child; for a signal handler. */
void sl_bench_child_stop(void);

/* ---- show.c ---- */

void sl_bench_show_machine(const struct sl_bench *bench);
void sl_bench_show_case(const struct sl_bench *bench, const struct sl_bench_case *c,
			const struct sl_error *error);
json_t *sl_bench_case_json(const struct sl_bench *bench, const struct sl_bench_case *c,
			   const struct sl_error *error);
