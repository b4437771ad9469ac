/* conversation.h - the messages between the learner and its application (proto/APPLICATION.md, Messages). */
#pragma once

#include "daemon/application/state.h"

/* Wait at most `timeout_ms` for the application, or until `other` is readable (-1: none), and take at most
 * one line of what it sent. Called by one thread, in turn. The mutex is held only while the line is handled.
 */
void sl_conversation_serve(struct sl_application *a, int other, int timeout_ms);

/* Return true if the application that has joined offers its initial model, and the learner has use for it. */
bool sl_conversation_wants_initial(const struct sl_application *a);

/* The mutex is held by the callers of the following functions; without an application they do nothing. */

/* Request the vector of a->wanted. */
void sl_conversation_train(struct sl_application *a);
/* Tell that the round a->committed is committed; after the last round also `done`. */
void sl_conversation_mean(struct sl_application *a);
/* End after the round `last`: tell `done`, after its mean. */
void sl_conversation_end(struct sl_application *a, sl_round last);
/* Refuse the vector of `round`. */
void sl_conversation_refuse(struct sl_application *a, sl_round round, const char *why);
/* Tell why the round waits. */
void sl_conversation_waiting(struct sl_application *a, const char *text);
