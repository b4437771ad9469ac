/* cluster.h - learners under test, in a run folder as `starling launch` makes it. They are started by the
 * launcher (cluster_launch) or by the test itself (cluster_open, cluster_start). Learners are counted from 1,
 * as their ids. */
#pragma once

#include <jansson.h>

#include "test/lib/process.h"
#include "test/lib/test.h"
#include "tools/lib/run_folder.h"

#define CLUSTER_MAX 16u /* learners that a test starts itself */

struct cluster {
	char folder[128];	  /* a new one; FOLDER/run is the run folder */
	struct sl_run_folder run; /* the run folder */

	/* of cluster_open */
	uint16_t ports[CLUSTER_MAX];
	pid_t pids[CLUSTER_MAX]; /* 0: not running */
	const char *usual;	 /* settings of every start; "neighbours=roster" */

	/* of cluster_launch */
	const char *starling; /* the program */
	const char *terminal; /* for its standard output; NULL: the file FOLDER/out */
	pid_t launcher;	      /* 0: not running */
	struct outcome outcome;
	json_t *summary; /* run/summary.json; NULL: there is none */
};

/* Define a case that has a `struct cluster *c`, whose processes are ended with it. Its folder is removed if
 * the case passes. */
#define CLUSTER_TEST(name)                                                                                   \
	TEST_CASE_(name, struct cluster *c, name(*state), cluster_setup, cluster_teardown, false)
#define CLUSTER_TEST_NIGHTLY(name)                                                                           \
	TEST_CASE_(name, struct cluster *c, name(*state), cluster_setup, cluster_teardown, true)
int cluster_setup(void **state);
int cluster_teardown(void **state);
struct cluster *cluster_new(void);
/* End all processes of `c`, remove its folder if `remove`, and free it. */
void cluster_free(struct cluster *c, bool remove);

/* Return FOLDER/run/learner-0i/FILE, or FOLDER/FILE for i = 0; valid until the seventh call from now. */
const char *cluster_path(const struct cluster *c, uint32_t i, const char *file);
/* Run a shell command in the run folder; it must succeed. */
void cluster_shell(const struct cluster *c, const char *command);
/* Copy `starling` and, as `starlingd`, the program `daemon` into FOLDER: the launcher starts the daemon
 * beside it. */
void cluster_copy_programs(struct cluster *c, const char *daemon);

/* ---- learners that the test starts ---- */

/* Make the run folder of n learners with these settings ("KEY=VALUE KEY=VALUE"); start none. They dump their
 * encodings, for cluster_expect_exact. */
void cluster_open(struct cluster *c, uint32_t n, const char *settings);
/* Start learner i, with more settings for this start ("": none). */
void cluster_start(struct cluster *c, uint32_t i, const char *settings);
/* Start learner i so that it dies at this place (daemon/runtime/failpoint.h). */
void cluster_start_failing(struct cluster *c, uint32_t i, const char *failpoint);
/* Start learner i as an insider that tells this lie (test/insider/insider.h). */
void cluster_start_lying(struct cluster *c, uint32_t i, const char *lie, const char *settings);
void cluster_start_all(struct cluster *c, const char *settings);
/* Send a signal; wait for the end after SIGKILL. */
void cluster_signal(struct cluster *c, uint32_t i, int signal);
/* Wait for the end of learner i; return its status as in struct outcome. */
int cluster_wait(struct cluster *c, uint32_t i);
/* End learner i by SIGTERM; its status must be 0. */
void cluster_end(struct cluster *c, uint32_t i);
/* Wait until all that run have ended with status 0. */
void cluster_finish(struct cluster *c);
/* The same, after SIGTERM. */
void cluster_stop(struct cluster *c);
/* The same, but start again what is killed. Return how many were. */
int cluster_tend(struct cluster *c);

/* Wait until learner i has logged `text`. */
void cluster_expect(const struct cluster *c, uint32_t i, const char *text);
/* The same for all learners. */
void cluster_expect_all(const struct cluster *c, const char *text);
/* Wait until learner i has entered this phase in a round. Needs log_level=debug. */
void cluster_expect_phase(const struct cluster *c, uint32_t i, uint32_t round, const char *phase);
/* Return how many lines of its log have `text`. */
int cluster_count(const struct cluster *c, uint32_t i, const char *text);
/* Return how many rounds learner i has committed: not those that it was shown. */
int cluster_committed(const struct cluster *c, uint32_t i);
/* Return the last round whose model learner i has, committed or shown; 0: none. */
uint32_t cluster_last_round(const struct cluster *c, uint32_t i);
/* Wait until learner i has the model of round t, or of a later one. */
void cluster_expect_round(const struct cluster *c, uint32_t i, uint32_t t);
/* Wait until each of these learners has committed `more` rounds from now on. */
#define CLUSTER_BIT(i) (UINT64_C(1) << ((i)-1)) /* of learner i in a set */
void cluster_expect_commits(const struct cluster *c, uint64_t learners, int more);
/* Wait until no process works in the folder. */
void cluster_expect_no_process(const struct cluster *c);

/* Expect of every round that all learners have: its committed model is the exact mean of the encodings of its
 * view, in the checkpoint of every learner, and no learner has logged `fatal`. Return the number of these
 * rounds. */
uint32_t cluster_expect_exact(const struct cluster *c);
/* The same, but write the first thing that is wrong to `wrong` ("": nothing), and do not count what the
 * learners of the set `liars` have committed. */
uint32_t cluster_look_exact(const struct cluster *c, uint64_t liars, struct sl_error *wrong);

/* Skip the case if python3 has no numpy, which --verify needs. */
void cluster_need_numpy(void);

/* ---- learners of a launcher ---- */

/* Run `starling launch --run-dir run ARGUMENTS` in FOLDER to its end. The arguments are split at blanks; with
 * --resume among them there is no --run-dir. */
void cluster_launch(struct cluster *c, const char *arguments);
/* The same in two parts. Meanwhile its output is in FOLDER/out and FOLDER/err. */
void cluster_launch_start(struct cluster *c, const char *arguments);
void cluster_launch_wait(struct cluster *c);
/* Write a schedule to FOLDER/s.txt, for --topology s.txt. */
void cluster_schedule(const struct cluster *c, const char *text);
/* Kill learner i by its pid file. */
void cluster_kill(const struct cluster *c, uint32_t i);

/* Expect status 0, `rounds` rounds that are all exact, and (verified) proved so, and that no process is left.
 */
void cluster_expect_rounds(const struct cluster *c, size_t rounds, bool verified);
/* Return a field of a round of the summary, counted from 0; true is 1. */
double cluster_figure(const struct cluster *c, size_t round, const char *field);
/* Expect the same checkpoint of a round at all n learners. */
void cluster_expect_same_checkpoints(const struct cluster *c, uint32_t n, uint32_t round);

void expect_text(const char *text, const char *part);
/* Expect an exit status of the launcher, and parts of what it printed. */
void expect_outcome(const struct cluster *c, int status, const char *out, const char *err);
