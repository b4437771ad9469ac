/* octave.h - the paper's simulation (paper_octave.m), run by GNU Octave where both are at hand.
 *
 * It takes its parameters from the environment and prints lines "shares,..." and "consensus,..." of KEY=VALUE
 * pairs.
 */
#pragma once

#include "tools/paper/paper.h"

#define SL_OCTAVE_WHY_BYTES 128u

/* Return true if PATH has `program`. */
bool sl_octave_installed(const char *program);

/* Whether it can be run; otherwise `why` says what is missing. SL_ERR_NOTFOUND when the user has named a file
 * that is not there. */
int sl_octave_find(const struct sl_paper *r, char script[static PATH_MAX], bool *found,
		   char why[static SL_OCTAVE_WHY_BYTES], struct sl_error *error);

/* Runs the script to its end, with "KEY=VALUE" added to the environment (ending in NULL), on one thread;
 * *output is all that it printed, malloced. SL_PENDING: ended by the user; SL_ERR_IO: it failed. */
int sl_octave_run(struct sl_paper *r, const char *script, const char *const *environment, char **output,
		  struct sl_error *error);

/* The number behind KEY= in a line of KEY=VALUE,KEY=VALUE; NAN when there is none. */
double sl_octave_number(const char *line, const char *key);
