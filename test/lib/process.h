/* process.h - programs under test: started, waited for with a deadline, ended by their process id. A program
 * that still runs when the test program ends, however it ends, is killed by the kernel. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Seconds of any wait: they only end a test that hangs, and measure nothing. */
#define PATIENCE_S 600.0

struct outcome {
	int status; /* exit status; 128 + signal; -1: it did not end and was killed */
	char out[1 << 16];
	char err[1 << 16];
};

/* Run `argv` to its end in `folder` (NULL: the present one). */
void process_run(struct outcome *outcome, const char *folder, const char *const *argv);

/* Start `argv` in `folder`; append standard output to the file `out` and standard error to `err`. */
pid_t process_start(const char *folder, const char *out, const char *err, const char *const *argv);
/* Wait for its end; after PATIENCE_S kill it. Return its status as in struct outcome. */
int process_wait(pid_t pid);
/* Return true and set *status if it has ended. */
bool process_ended(pid_t pid, int *status);

/* Seconds of the monotonic clock. */
double process_now(void);
/* Pause between two looks at a condition. */
void process_look_again(void);

/* Return the number of lines of the file with `text` (and `other`, unless NULL) in them; -1: no such file. */
int process_count(const char *path, const char *text, const char *other);
/* Wait until such a line is there. Return false after PATIENCE_S. */
bool process_expect(const char *path, const char *text, const char *other);
/* Read at most size - 1 bytes of the file as a string; a file that is not there is empty. */
void process_read(const char *path, char *text, size_t size);
void process_write(const char *path, const char *text);

/* Return true if a process has its working directory in `folder` or below, as a learner has. */
bool process_alive(const char *folder);

/* Make a new folder; remove it with all that is in it. */
void process_folder(char *path, size_t size);
void process_remove(const char *path);
