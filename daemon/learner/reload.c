#include "daemon/learner/reload.h"

#include "daemon/learner/daemon.h"

int sl_reload(struct sl_daemon *daemon, struct sl_error *error)
{
	return sl_err_set(error, SL_ERR_REFUSED, "%s: restart this learner to read its files again",
			  daemon->settings->run);
}
