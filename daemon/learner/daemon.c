#include "daemon/learner/daemon.h"

#include <sodium.h>

void sl_daemon_stop(struct sl_daemon *daemon, int status)
{
	if (daemon->stopping)
		return;
	daemon->stopping = true;
	daemon->status = status;
	atomic_store(&daemon->stop_training, true);
	uv_stop(&daemon->loop);
}

void sl_daemon_sign(const struct sl_daemon *daemon, struct sl_message *message)
{
	uint8_t hash[SL_HASH_BYTES];
	if (sl_canonical_message(&daemon->core_config.scope, message, hash))
		crypto_sign_detached(sl_message_role(message, SL_ROLE_SIGNATURE), NULL, hash, sizeof hash,
				     daemon->identity.sign_key);
}
