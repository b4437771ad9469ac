/* command.h - what the `starling` program asks of its subcommands, and what it offers them.
 *
 * A subcommand parses its own arguments with argp; argv[0] reads "starling NAME". It returns the exit status:
 * 0 done, 1 failed at run time, 2 usage or bad input (SL_EXIT_USAGE, which argp's own errors give too).
 * Results go to standard output, everything else to standard error. SIGPIPE is ignored: a closed pipe is an
 * EPIPE.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SL_EXIT_FAILED 1
#define SL_EXIT_USAGE 2

struct sl_command {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
};

int sl_cmd_abort(int argc, char **argv);
int sl_cmd_bench(int argc, char **argv);
int sl_cmd_keygen(int argc, char **argv);
int sl_cmd_logs(int argc, char **argv);
int sl_cmd_launch(int argc, char **argv);
int sl_cmd_estimate(int argc, char **argv);
int sl_cmd_reproduce(int argc, char **argv);
int sl_cmd_simtest(int argc, char **argv);
int sl_cmd_simulate(int argc, char **argv);
int sl_cmd_topology(int argc, char **argv);

/* A whole number within [least, most] and nothing else in the text; false otherwise. */
bool sl_command_number(const char *text, uint64_t least, uint64_t most, uint64_t *number);

/* How the user called this program: what a suggested command line begins with. */
const char *sl_command_program(void);

/* For a command that writes much: called right after a failed write to standard output, it keeps errno for
 * the message with which the program ends. */
void sl_command_output_failed(void);
