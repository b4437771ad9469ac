/* application.h - a trainer that is a program of the user (proto/APPLICATION.md).
 *
 * The application connects to a socket, states the tensors of its model, and is then asked for one trained
 * vector a round; after each commit it gets the mean. Vectors are handed over in shared memory. A thread
 * serves the socket; the training thread waits until the vector of its round has come. The application may
 * leave and join again at any moment.
 *
 *      application  -- join, trained -->  socket thread  -- answer -->  training thread
 *                   <-- joined, train, mean, done --
 */
#pragma once

#include "common/config/roster.h"
#include "common/config/settings.h"
#include "common/model/trainer.h"
#include "daemon/application/command.h"

struct sl_application_config {
	const struct sl_settings *settings;
	const struct sl_roster *roster;
	uint32_t self; /* place in the roster */
	/* Tell the learner that the application came or went: by sl_application_open on its own thread, later
	 * on the socket thread. */
	void (*say)(void *context, const char *text);
	/* trainer: exec: log what happened to the command, in the same way; see command.h. */
	void (*say_command)(void *context, enum sl_command_said said, const char *text);
	void *context;
};

/* Open the socket, start the command of trainer: exec, and wait until an application has joined: only it
 * knows the size of the model. SIGINT and SIGTERM end the command and the process meanwhile. */
int sl_application_open(const struct sl_application_config *config, struct sl_trainer **trainer,
			struct sl_error *error);
/* Serve the socket from now on, by a thread. */
int sl_application_serve(struct sl_trainer *trainer, struct sl_error *error);
/* Return true if a process of the command runs: after the last round, it may still save its model. */
bool sl_application_runs(struct sl_trainer *trainer);
/* End the command, serve no longer, and call `say` no more. The trainer may still be called. */
void sl_application_stop(struct sl_trainer *trainer);
