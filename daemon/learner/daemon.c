/* A learner's life between its opening and its end. */
#include "daemon/learner/daemon.h"

#include <sodium.h>
#include <stdlib.h>

#include "daemon/learner/actions.h"
#include "daemon/learner/events.h"
#include "daemon/learner/loop.h"

void sl_daemon_stop(struct sl_daemon *daemon, int status)
{
	if (daemon->stopping)
		return;
	daemon->stopping = true;
	daemon->status = status;
	atomic_store(&daemon->stop_training, true);
	uv_stop(&daemon->loop);
}

int sl_daemon_run(struct sl_daemon *daemon)
{
	sl_events_new(daemon, SL_EVENT_START);
	if (!daemon->stopping)
		uv_run(&daemon->loop, UV_RUN_DEFAULT);
	return daemon->status;
}

void sl_daemon_close(struct sl_daemon *daemon)
{
	sl_loop_close(daemon);
	sl_control_free(daemon->control);
	sl_links_free(daemon->links);
	sl_tls_close(&daemon->tls);
	sl_result_close(&daemon->result);
	sl_result_close(&daemon->next_result);
	sl_events_close(daemon);
	if (daemon->core != NULL)
		sl_actions_free_buffers(sl_core_held(daemon->core)); /* shares of others: wiped */
	free(daemon->core_memory);
	sl_keys_close(&daemon->keys);
	free(daemon->checked);
	free(daemon->peer_warnings);
	free(daemon->link_faults);
	free(daemon->ids);
	sodium_free(daemon->workspace.trained);
	sodium_free(daemon->workspace.x);
	sodium_free(daemon->workspace.s);
	sodium_free(daemon->workspace.scratch.base);
	free(daemon->workspace.committed);
	if (daemon->trainer != NULL)
		daemon->trainer->ops->close(daemon->trainer);
	if (daemon->log != NULL)
		sl_log_close(daemon->log);
	sl_masked_states_close(&daemon->masked_states);
	sl_store_promises_close(&daemon->promises);
	sl_store_close(daemon->store);
	sl_identity_close(&daemon->identity);
	sl_roster_close(&daemon->roster);
}
