/* process.h - real programs under test: started, waited for with a deadline, ended by their own id. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct outcome {
	int status; /* exit status; 128 + signal; -1: it did not end in time and was killed */
	char out[1 << 16];
	char err[1 << 16];
};

/* Runs argv to its end, at most `seconds`, with `folder` as its working directory (NULL: here). */
void process_run(struct outcome *outcome, const char *folder, double seconds, const char *const *argv);

/* Starts argv; standard output and error go to `log`. */
pid_t process_start(const char *folder, const char *log, const char *const *argv);
/* Waits at most `seconds`; kills it then. Returns as outcome.status. */
int process_wait(pid_t pid, double seconds);
/* It was waited for in another way. */
void process_forget(pid_t pid);
/* Seconds of the monotonic clock; a pause between two looks at a condition. */
double process_now(void);
void process_look_again(void);

/* Waits until `text` stands in the file, at most `seconds`. */
bool process_expect(const char *path, const char *text, double seconds);
/* Times that text stands in the file; -1 if there is no such file. */
int process_count(const char *path, const char *text);

/* Whether a process still works in this folder or below it: a learner's working directory is its own. */
bool process_alive(const char *folder);

/* A new empty folder, removed by process_remove. */
void process_folder(char *path, size_t size);
void process_remove(const char *path);

/* Where the programs are: set by meson. */
const char *process_starling(void);
const char *process_starlingd(void);
