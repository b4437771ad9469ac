#include "daemon/learner/sign.h"

#include <sodium.h>

void sl_sign_message(const struct sl_identity *identity, const struct sl_scope *scope,
		     struct sl_message *message)
{
	uint8_t hash[SL_HASH_BYTES];
	if (sl_canonical_message(scope, message, hash))
		crypto_sign_detached(sl_message_role(message, SL_ROLE_SIGNATURE), NULL, hash, sizeof hash,
				     identity->sign_key);
}
