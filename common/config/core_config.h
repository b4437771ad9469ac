/* core_config.h - the settings as the core wants them: for every shell that is configured like a daemon. */
#pragma once

#include "common/core/core.h"
#include "common/config/settings.h"

/* Parameters, gate, radio and deadlines; who the learner is, and what it remembers, stay as they are. n:
 * floats of the model; quorum: what sl_settings_quorum came to. */
void sl_core_config_set(struct sl_core_config *config, const struct sl_settings *settings, uint64_t n,
			uint32_t quorum);
