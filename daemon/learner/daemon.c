#include "daemon/learner/daemon.h"

#include <sodium.h>
#include <string.h>

#include "daemon/application/application.h"
#include "daemon/runtime/failpoint.h"
#include "daemon/runtime/service.h"

#define FAREWELL_MS 30000u
#define LOOK_MS 100u

static void restart(void *context)
{
	sl_daemon_restart(context);
}

void sl_daemon_init(struct sl_daemon *daemon, struct sl_settings *settings)
{
	memset(daemon, 0, sizeof *daemon);
	daemon->settings = settings;
	const struct sl_observed of = {.settings = settings,
				       .roster = &daemon->members.roster,
				       .core_config = &daemon->core_config,
				       .keys = &daemon->verifier.keys,
				       .checkpoint = daemon->committed.checkpoint,
				       .failed = &daemon->failed,
				       .loop = &daemon->loop};
	sl_observe_begin(&daemon->observe, &of);
	daemon->members.host = (struct sl_membership_host){.settings = settings,
							   .observe = &daemon->observe,
							   .loop = &daemon->loop,
							   .stopping = &daemon->stopping,
							   .restart = restart,
							   .context = daemon};
}

void sl_daemon_stop(struct sl_daemon *daemon, int status)
{
	if (daemon->stopping)
		return;
	daemon->stopping = true;
	daemon->status = status;
	if (daemon->restart_requested)
		sl_service_reloading();
	else
		sl_service_stopping();
	atomic_store(&daemon->training.stop, true);
	uv_stop(&daemon->loop);
}

void sl_daemon_restart(struct sl_daemon *daemon)
{
	daemon->restart_requested = true;
	sl_daemon_stop(daemon, 0);
	sl_failpoint_reach(SL_FAILPOINT_RESTARTING);
}

static void on_farewell(uv_timer_t *timer)
{
	struct sl_daemon *daemon = timer->data;
	bool runs = daemon->settings->trainer == SL_TRAINER_EXEC && sl_application_runs(daemon->trainer);
	if (!runs || uv_now(&daemon->loop) >= daemon->farewell_ms + FAREWELL_MS)
		sl_daemon_stop(daemon, 0);
}

void sl_daemon_finish(struct sl_daemon *daemon)
{
	daemon->farewell_ms = uv_now(&daemon->loop);
	uv_timer_init(&daemon->loop, &daemon->handles.farewell);
	daemon->handles.farewell.data = daemon;
	uv_timer_start(&daemon->handles.farewell, on_farewell, 0, LOOK_MS);
	on_farewell(&daemon->handles.farewell);
}

void sl_daemon_sign(const struct sl_daemon *daemon, struct sl_message *message)
{
	uint8_t hash[SL_HASH_BYTES];
	if (sl_canonical_message(&daemon->core_config.scope, message, hash))
		crypto_sign_detached(sl_message_role(message, SL_ROLE_SIGNATURE), NULL, hash, sizeof hash,
				     daemon->members.identity.sign_key);
}
