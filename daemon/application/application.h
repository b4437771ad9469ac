/* application.h - a trainer that is a program of the user (proto/APPLICATION.md).
 *
 * The application connects to a socket, states the tensors of its model, and is then asked for one trained
 * vector a round; after each commit it gets the mean. Vectors are handed over in shared memory. A thread
 * serves the socket; the training thread waits until the vector of its round has come, and writes it to the
 * state folder. The application may leave and join again at any moment.
 *
 *   application  -- join, trained -->  socket thread  -- answer -->  training thread  -->  trained file
 *                <-- joined, train, mean, done --
 */
#pragma once

#include "daemon/application/config.h"

/* Open the socket, and start the command of trainer: exec. The tensors of the model are those of the last
 * committed model or of the vector that is in the state folder; if there is neither, wait until an
 * application has joined. SL_PENDING: stopped while it waited. */
int sl_application_open(const struct sl_application_config *config, struct sl_trainer **trainer,
			struct sl_error *error);
/* Serve the socket from now on, by a thread. */
int sl_application_serve(struct sl_trainer *trainer, struct sl_error *error);
/* Return what the setting `values` says, or the first application has asked for. */
enum sl_values sl_application_values(const struct sl_trainer *trainer);
/* Note that the model is used in an attempt: until a round is committed, no application with another one can
 * join. */
void sl_application_bind(struct sl_trainer *trainer);
/* Return true if it is used in an attempt, or a round is committed. Any thread. */
bool sl_application_is_bound(const struct sl_trainer *trainer);
/* Copy the hash of the program that has joined; zeros: it told none. Any thread. */
void sl_application_program(struct sl_trainer *trainer, uint8_t hash[static SL_HASH_BYTES]);
/* Return true if a process of the command runs: after the last round, it may still save its model. */
bool sl_application_runs(struct sl_trainer *trainer);
/* The learner ends after the round `last`, which is committed: tell the application. */
void sl_application_end(struct sl_trainer *trainer, sl_round last);
/* End the command, serve no longer, and call `say` no more. The trainer may still be called. */
void sl_application_stop(struct sl_trainer *trainer);
