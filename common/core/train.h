/* train.h - TRAIN: the beginning of a round (ROUND.md §7.3 Train). */
#pragma once

#include "common/core/state.h"

/* Begin training; after a commit, begin the next round first. */
void sl_train_enter(struct sl_core *core);
enum sl_wait sl_train_awaits(const struct sl_core *core, uint64_t *set);
/* The model of the round is in the workspace. */
/* The learners begin with different models: average whole models in the first round, and announce what that
 * takes. */
void sl_train_without_initial(struct sl_core *core);
/* far: see the event TRAINED. */
void sl_train_done(struct sl_core *core, bool far);
/* Reset the state to that of round committed + 1, of which nothing has happened yet. */
void sl_train_round(struct sl_core *core);
/* Ask for a model of round t. */
void sl_train_begin(struct sl_core *core);
