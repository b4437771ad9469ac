/* config.h - what the trainer of this room gets from the learner. */
#pragma once

#include "common/config/level.h"
#include "common/config/roster.h"
#include "common/config/settings.h"
#include "common/model/trainer.h"
#include "daemon/application/command.h"

struct sl_application_config {
	const struct sl_settings *settings;
	const struct sl_roster *roster;
	uint32_t self; /* place in the roster */
	/* The last committed round, 0: none; and the tensors of its model, empty: not known. Their items are
	 * the caller's, and needed by sl_application_open only. */
	sl_round committed;
	struct sl_tensors tensors;
	enum sl_values values; /* of its round; counts with tensors, and with values: auto */
	/* Log a line: by sl_application_open on its own thread, later on any thread. */
	void (*say)(void *context, enum sl_level level, const char *text);
	/* trainer: exec: log what happened to the command, in the same way; see command.h. */
	void (*say_command)(void *context, enum sl_command_said said, const char *text);
	/* Start the learner again, for an application has joined with another model: called on the thread
	 * that serves the socket, and only while no model is bound (sl_application_bind). */
	void (*restart)(void *context);
	/* End the learner after `round`, the last one that is committed: called as `restart`, and possibly
	 * again. */
	void (*stop)(void *context, sl_round round);
	/* The model of the round cannot be used, and is trained again: called as `restart`, or on the thread
	 * of the trainer. */
	void (*failed)(void *context);
	/* Return true if sl_application_open is to wait no longer; called several times a second, and when
	 * `wake` is readable (-1: none). */
	bool (*stopped)(void *context);
	int wake;
	void *context;
};
