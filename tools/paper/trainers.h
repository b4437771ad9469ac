/* trainers.h - one trainer for each learner, as the daemons would have them. */
#pragma once

#include "common/model/trainer.h"

/* `count` trainers on the slices of `settings`; *trainers is an array to close. */
int sl_trainers_open(const struct sl_settings *settings, uint32_t count, struct sl_trainer ***trainers,
		     struct sl_error *error);
void sl_trainers_close(struct sl_trainer **trainers, uint32_t count);
