#include "daemon/learner/daemon.h"

void sl_daemon_stop(struct sl_daemon *daemon, int status)
{
	if (daemon->stopping)
		return;
	daemon->stopping = true;
	daemon->status = status;
	atomic_store(&daemon->stop_training, true);
	uv_stop(&daemon->loop);
}
