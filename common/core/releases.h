/* releases.h - the release log of the round (release_log.h), kept up to date, and the own Aborts
 * (PROTOCOL.md §9.2 What an Abort says).
 */
#pragma once

#include "common/core/state.h"

/* Enter the present attempt as released, with what is known of its participants' Aborts. */
void sl_releases_use(struct sl_core *core);
/* Enter attempt `a`, of which no more is known than that this learner's masked state may have left. Return
 * false if the log is full. */
bool sl_releases_note(struct sl_core *core, sl_attempt a);
/* Return true if attempt `a` is in the log. */
bool sl_releases_has(const struct sl_core *core, sl_attempt a);
/* Return the entry of attempt `a`, or NULL. */
struct sl_used *sl_releases_find(struct sl_core *core, sl_attempt a);
/* Note in every entry what the latest Abort of `signer` says. */
void sl_releases_heard(struct sl_core *core, uint32_t signer);
/* Empty the log: a new round begins. */
void sl_releases_forget(struct sl_core *core);

/* Abort all attempts up to `a` that are not in the log: on disk first. */
void sl_releases_abort_own(struct sl_core *core, sl_attempt a);
/* The own Abort up to `a` is on disk: sign it and flood it. */
void sl_releases_abort_durable(struct sl_core *core, sl_attempt a);

/* Return true if `signer` has not released attempt `a`, or will not complete it. Participants that have not
 * released it need not do so either. */
bool sl_releases_aborted(const struct sl_core *core, uint32_t signer, sl_attempt a);
/* Return another participant of the view that has aborted or closed the attempt, or SL_NOBODY. */
uint32_t sl_releases_abort_of_view(const struct sl_core *core);
/* Return true if all other participants have aborted or closed the attempt. Without this learner, none of
 * them completes it. */
bool sl_releases_aborted_by_all(const struct sl_core *core);
