/* command.h - the application of trainer: exec, a child process that is kept running.
 *
 * The command runs by `/bin/sh -c`, in a process group, without input. It finds the learner by the variables
 * STARLING_SOCKET, STARLING_LEARNER (id), STARLING_LEARNERS (of the roster) and STARLING_RUN_DIR (the state
 * folder), and has a token (runtime/warden.h). What it prints is passed on line by line.
 *
 *      idle  -- due -->  running  -- exit, deadline, close -->  ending  -- no process is left -->  idle
 *
 * The processes of the command are all descendants of the daemon but the warden (runtime/descendants.h). When
 * it ends they get SIGTERM, after 5 s SIGKILL. If the daemon is killed, the warden does the same. The next
 * start is due 1 s after the exit, then 2, 4, ... 60 s, until the command has completed a round.
 *
 * One thread at a time uses a command. The process must have no other children: their exits are taken here.
 * The functions after sl_command_open do nothing for NULL: there is no command.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/config/settings.h"

/* The duty of the command towards the learner. */
enum sl_command_duty {
	SL_COMMAND_NONE, /* nothing now: a round is aggregated */
	SL_COMMAND_WORK, /* to join, or a trained model */
	SL_COMMAND_DONE, /* nothing any more: it is not started again */
};

enum sl_command_said { SL_COMMAND_STARTED, SL_COMMAND_FAILED, SL_COMMAND_OUTPUT };

struct sl_command_config {
	const struct sl_settings *settings;
	uint32_t learners; /* of the roster */
	/* Log `text`: what happened to the command, or a line that it printed. */
	void (*say)(void *context, enum sl_command_said said, const char *text);
	void *context;
};

struct sl_command;

/* Prepare the command; the first sl_command_tend starts it. SL_ERR_IO: the socket's folder is not there. */
int sl_command_open(struct sl_command **command, const struct sl_command_config *config,
		    struct sl_error *error);
/* Start it if that is due, take what it has printed, notice its end, and end it after training_deadline. Call
 * it several times a second; it does not wait. */
void sl_command_tend(struct sl_command *command, enum sl_command_duty duty);
/* Note that the command has completed a round: the next restart is due 1 s after the exit again. */
void sl_command_completed(struct sl_command *command);
/* Return true if the process is one of the command, or `token` is that of the command; NULL: it sent none. A
 * process in a container, or one that a job scheduler has started, is known by its token only. */
bool sl_command_owns(const struct sl_command *command, pid_t pid, const char *token);
/* Return true if a process of the command is left. */
bool sl_command_runs(const struct sl_command *command);
/* End it and wait until it has ended, at most a little more than 10 s. It is not started again. */
void sl_command_end(struct sl_command *command);
/* End it and free. */
void sl_command_close(struct sl_command *command);
