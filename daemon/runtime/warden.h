/* warden.h - a process that ends the commands which this one has started, if this one is killed.
 *
 *      this process  -- a pipe: "+ GROUP", "- GROUP" -->  warden
 *
 * The end of the pipe tells the warden, a small shell script in a session of its own, that this process is
 * gone, however it has ended. It then sends SIGTERM to the process groups that it still watches, and SIGKILL
 * to those that are there 5 s later. */
#pragma once

#include <sys/types.h>

#include "common/base/err.h"

struct sl_warden {
	pid_t pid; /* 0: none */
	int pipe;
};

/* Start the process. SL_ERR_IO. */
int sl_warden_open(struct sl_warden *warden, struct sl_error *error);
/* Watch the process group, or no longer. */
void sl_warden_watch(const struct sl_warden *warden, pid_t group);
void sl_warden_forget(const struct sl_warden *warden, pid_t group);
/* End what is left of the groups, then the process, and wait for it: about 5 s if a process ignores SIGTERM.
 * A zeroed struct has none. */
void sl_warden_close(struct sl_warden *warden);
