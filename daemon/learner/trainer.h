/* trainer.h - the application that trains for a learner. */
#pragma once

struct sl_daemon;
struct sl_error;

/* Open the socket of the application, if the settings want one. Until the first one joins, which may take any
 * time, answer learners that join and control clients. SL_PENDING: told to end meanwhile. */
int sl_learner_trainer_open(struct sl_daemon *daemon, struct sl_error *error);
/* Show the trainer the committed model that the learner goes on from. */
void sl_learner_trainer_show(struct sl_daemon *daemon);
/* Remove what the state folder has of the model of the first application. */
void sl_learner_trainer_forget(const struct sl_daemon *daemon);
