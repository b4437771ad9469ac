/* core_config.h - convert settings to the configuration of the core, for the daemon and for the in-process
 * runners. */
#pragma once

#include "common/core/core.h"
#include "common/config/settings.h"

/* Set the parameters, the privacy check, the source of neighbours and the timeouts of `config` from
 * `settings`; `roster_size` is set. Identity and restored state stay unchanged. `n`: elements of the model;
 * `model`: hash of its tensors (common/model/tensor_bytes.h); `quorum`: result of sl_settings_quorum. */
void sl_core_config_set(struct sl_core_config *config, const struct sl_settings *settings, uint64_t n,
			uint64_t model, uint32_t quorum);

/* Set what is averaged and its digits: `values` is MODEL or UPDATE, and models without decimals are exact. */
void sl_core_config_values(struct sl_core_config *config, const struct sl_settings *settings,
			   enum sl_values values);

/* Check what sl_core_config_set has chosen. SL_ERR_RANGE: no noise keeps the budget, or there is
 * no step or no modulus for it. */
int sl_core_config_check(const struct sl_core_config *config, const struct sl_settings *settings,
			 struct sl_error *error);
