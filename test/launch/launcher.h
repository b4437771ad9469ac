/* launcher.h - runs the built `starling launch` with fake daemons, and looks at what it leaves behind. */
#pragma once

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct launcher {
	char folder[PATH_MAX]; /* a new one: starling, starlingd (the fake), out, err, run/ */
	pid_t pid;
	int status; /* exit status, or 128 + the signal */
	char *out, *err;
};

/* Copies both programs into a new folder, which every test gets as its own; and removes it. */
void launcher_open(struct launcher *l, const char *starling, const char *fake);
void launcher_close(struct launcher *l);

/* Starts `starling launch --run-dir run ARGUMENTS` (split at spaces) in the folder; fault: see fake_daemon.c,
 * or NULL. terminal: the descriptor of a terminal for its output, or -1 for files. */
void launcher_start(struct launcher *l, const char *fault, int terminal, const char *arguments);
/* Waits for its end, and reads what it said. */
void launcher_wait(struct launcher *l);
/* Both. */
void launcher_run(struct launcher *l, const char *fault, const char *arguments);

/* Without --run-dir. */
void launcher_run_usual(struct launcher *l, const char *arguments);

/* Writes a file in the folder, or makes a folder there. */
void launcher_write(const struct launcher *l, const char *file, const char *text);
void launcher_write_bytes(const struct launcher *l, const char *file, const char *bytes, size_t count);
void launcher_folder(const struct launcher *l, const char *name);
bool launcher_has(const struct launcher *l, const char *file);
/* How many files in run/ have a name that begins so. */
int launcher_count(const struct launcher *l, const char *prefix);
/* Waits until the text stands in the file; fails the test after a minute. */
void launcher_await(const struct launcher *l, const char *file, const char *text);
/* run/summary.json; a new reference. */
json_t *launcher_summary(const struct launcher *l);
/* How many of the first n learners' processes live. */
int launcher_alive(const struct launcher *l, int n);
/* Kills learner i by what the launcher says is its process. */
void launcher_kill(const struct launcher *l, int i);

void expect_text(const char *text, const char *part);
void expect_status(const struct launcher *l, int status);
/* Which rounds are exact: "++-". */
void expect_exact(const struct launcher *l, const char *pattern);
/* rows[i].name of the summary as a number: true is 1. */
double figure(const json_t *summary, size_t i, const char *name);
