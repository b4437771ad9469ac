/* restore.h - resume from the state folder: records, last committed model and result, open attempt
 * (ROUND.md §14.3 Restart).
 *
 * A start calls the functions in the order in which they stand here. The log is opened before
 * sl_restore_log_roster.
 */
#pragma once

#include <stdbool.h>

#include "common/base/err.h"
#include "common/base/tensors.h"
#include "common/field/encoding.h"

struct sl_daemon;

/* Open the records of the state folder. `peek`: open them for reading only; daemon->store is then NULL if
 * there are none yet. */
int sl_restore_store(struct sl_daemon *daemon, bool peek, struct sl_error *error);
/* Log the change of the roster since the last committed round, if there is one. */
int sl_restore_log_roster(struct sl_daemon *daemon, struct sl_error *error);
/* Read the tensors of the newest committed model that is readable, with items to be freed, and the last
 * committed round; empty, and 0, if there is none. With values: auto also the values of that round, from its
 * result; the tensors are empty if it cannot be read. */
int sl_restore_tensors(struct sl_daemon *daemon, struct sl_tensors *tensors, enum sl_values *values,
		       sl_round *committed, struct sl_error *error);
/* Read the committed model into the workspace and set its round in the core's configuration. */
int sl_restore_model(struct sl_daemon *daemon, struct sl_error *error);
/* Read the records of the following round and reopen the attempt that the end of the process
 * interrupted. */
int sl_restore_promises(struct sl_daemon *daemon, struct sl_error *error);
