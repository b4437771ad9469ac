/* commands.h - the applications of a run: `starling launch ... -- COMMAND` runs COMMAND once for each
 * learner.
 *
 * A COMMAND finds its learner by STARLING_SOCKET. It runs in the folder of the caller, as the leader of its
 * own process group, without input. What it prints is shown line by line with the name of its learner, and
 * kept in RUN/learner-NN/output.txt. */
#pragma once

#include "tools/launch/state.h"

struct sl_commands;

/* Start a COMMAND for each learner. SL_ERR_NOTFOUND, SL_ERR_IO: the error names the command. */
int sl_commands_open(struct sl_commands **commands, struct sl_launch *launch, struct sl_error *error);
/* Fail the run if a command has ended before the last round. */
void sl_commands_tick(struct sl_commands *commands, uint64_t now);
/* Send `signal` to the process group of each COMMAND that runs. */
void sl_commands_kill(struct sl_commands *commands, int signal);
/* Send `signal` to the commands of learners without the last round, or that ended with the budget of another
 * one, or with their own before a round of this launch: nothing will come for them any more. */
void sl_commands_end_late(struct sl_commands *commands, int signal);
/* Print which commands run, though no round follows. */
void sl_commands_say_running(const struct sl_commands *commands);
/* Close the outputs that are still open: a process that a command left behind may hold one. */
void sl_commands_let_go(struct sl_commands *commands);
/* Return the number of commands that run. */
uint32_t sl_commands_running(const struct sl_commands *commands);
/* Return the worst exit status: of a command that was killed by signal s, 128 + s. */
int sl_commands_status(const struct sl_commands *commands);
/* Free; no command runs, and the loop has run since the last one ended. */
void sl_commands_free(struct sl_commands *commands);
