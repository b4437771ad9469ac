/* tasks.h - slow work off the loop thread: jobs on the compute worker, training and evaluation on the train
 * worker. Each task reports its end as an event. */
#pragma once

#include "common/core/core.h"
#include "common/model/trainer.h"

struct sl_daemon;

/* Queue `job` on the compute worker. */
void sl_tasks_compute(struct sl_daemon *daemon, const struct sl_job *job);
/* Queue the training of round `t`; `draw` is the training nonce that the core chose. */
void sl_tasks_train(struct sl_daemon *daemon, sl_round t, uint64_t draw);
/* Queue wiping the workspace and closing the state file of the attempt. */
void sl_tasks_wipe(struct sl_daemon *daemon);
/* Queue the removal of the files that the commit of round `t` makes useless. */
void sl_tasks_forget(struct sl_daemon *daemon, sl_round t);
/* Queue showing the committed model to the trainer, and its evaluation. */
void sl_tasks_evaluate(struct sl_daemon *daemon, const struct sl_trainer_commit *commit);
/* Log `text` and end the learner with status 1. Queued disk writes are skipped. */
void sl_tasks_fatal(struct sl_daemon *daemon, const char *text);
