/* sign.h - sign the learner's own records: the core leaves signing to the daemon. */
#pragma once

#include "common/protocol/canonical.h"
#include "daemon/net/identity.h"

/* Sign `message` with the key of `identity`, if messages of its kind carry a signature. */
void sl_sign_message(const struct sl_identity *identity, const struct sl_scope *scope,
		     struct sl_message *message);
