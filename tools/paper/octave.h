/* octave.h - the paper's simulation (paper_octave.m), run by GNU Octave.
 *
 * It takes its parameters from the environment and prints lines "shares,..." and "consensus,..." of KEY=VALUE
 * pairs.
 */
#pragma once

#include "tools/paper/paper.h"

/* Run the script of --octave to its end on one thread, with "KEY=VALUE" added to the environment (ending in
 * NULL); *output is what it printed, malloced. SL_PENDING: ended by the user; SL_ERR_NOTFOUND: Octave is not
 * installed; SL_ERR_FORMAT: there is no such script; SL_ERR_IO: it failed. */
int sl_octave_run(struct sl_paper *r, const char *const *environment, char **output, struct sl_error *error);

/* Return the number behind KEY= in a line of KEY=VALUE,KEY=VALUE; NAN when there is none. */
double sl_octave_number(const char *line, const char *key);
