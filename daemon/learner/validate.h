/* validate.h - check a configuration against its surroundings: roster, folders, address. A start and
 * `starlingd --check` share the checks. */
#pragma once

#include "common/config/roster.h"
#include "common/config/settings.h"

/* Check `settings` for the member at index `self` of `roster`. SL_PENDING: they can be used once the address
 * to listen on is there; the text says why it is not. */
int sl_validate(const struct sl_settings *settings, const struct sl_roster *roster, uint32_t self,
		struct sl_error *error);
