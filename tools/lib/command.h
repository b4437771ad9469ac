/* command.h - common parts of the command-line programs: setup, argument parsing, exit status, standard
 * output.
 *
 * Exit status: 0 done, 1 failed at run time, 2 usage or bad input (argp's own errors too). Results go to
 * standard output, everything else to standard error.
 */
#pragma once

#include <argp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"

struct json_t;

#define SL_EXIT_FAILED 1
#define SL_EXIT_USAGE 2

/* A command of `starling`; argv[0] of `run` reads "starling NAME". */
struct sl_command {
	const char *name, *summary, *module; /* module: of Python, in place of `run` */
	int (*run)(int argc, char **argv);
};

int sl_cmd_admit(int argc, char **argv);
int sl_cmd_evidence(int argc, char **argv);
int sl_cmd_group(int argc, char **argv);
int sl_cmd_join(int argc, char **argv);
int sl_cmd_keygen(int argc, char **argv);
int sl_cmd_launch(int argc, char **argv);
int sl_cmd_dp(int argc, char **argv);
int sl_cmd_part(int argc, char **argv);
int sl_cmd_simulate(int argc, char **argv);
int sl_cmd_topology(int argc, char **argv);

/* Prepare the process of a program: open standard descriptors that are closed, ignore SIGPIPE (a closed pipe
 * is then EPIPE), fit argp's help to the terminal, give argp's errors the status SL_EXIT_USAGE, and report
 * lost output when the process exits. */
void sl_command_open(int argc, char **argv);

/* Set the name that argp's messages begin with, and argv[0] with it. */
void sl_command_set_name(char **argv, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Say that `word` is none of the `what` of the program `called`, such as its commands: the name nearest to it
 * in `names` (ended by NULL), or where they are listed. Return SL_EXIT_USAGE. */
int sl_command_unknown(const char *called, const char *what, const char *word, const char *const *names);

/* Return the name by which the user called this program, for suggested command lines. */
const char *sl_command_program(void);

/* Return the exit status of the command `name`. An error is printed; one of files or of what does not answer
 * (SL_ERR_IO, SL_ERR_BUSY) has SL_EXIT_FAILED, others SL_EXIT_USAGE. */
int sl_command_status(const char *name, int rc, const struct sl_error *error);
/* Print a document and a newline on standard output, with flags of json_dumpf; free it. */
void sl_command_print_json(struct json_t *document, size_t flags);

/* Return zeroed memory for `count` items. Without memory the program ends with status SL_EXIT_FAILED: for
 * programs that have nothing to clean up. */
void *sl_command_memory(size_t count, size_t size);
/* Return `items`, moved if needed, with room for one item more than `count`. The same without memory. */
void *sl_command_grow(void *items, size_t count, size_t *room, size_t size);

/* Write into `path` the program `name` in the folder of this one, and return true; without such a program,
 * write `name` (to be found on PATH) and return false. */
bool sl_command_sibling(const char *name, char path[static PATH_MAX]);
/* Let python3 find the Python of this program: put the folders with its packages before PYTHONPATH (in a
 * build folder, PREFIX/share, the tarball). In a virtual environment, if none is active: put its programs
 * before PATH. */
void sl_command_find_package(void);
