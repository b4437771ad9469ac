/* warden.h - a process that ends the commands which this one has started, if this one is killed.
 *
 * The end of a pipe tells the warden, a small shell script in a session of its own, that this process is
 * gone, however it has ended. The commands have an environment variable with a random token, which their
 * children inherit. The warden then sends SIGTERM to all processes that have it, in whatever group or
 * session, and SIGKILL to those that are there 5 s later. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "common/base/err.h"

#define SL_WARDEN_MARK_BYTES 48u

struct sl_warden {
	pid_t pid; /* 0: none */
	int pipe;
	char mark[SL_WARDEN_MARK_BYTES]; /* the variable: "STARLING_TOKEN=0123..." */
};

/* Start the process. SL_ERR_IO. */
int sl_warden_open(struct sl_warden *warden, struct sl_error *error);
/* Return true if `token` is that of the variable. */
bool sl_warden_has_token(const struct sl_warden *warden, const char *token);
/* End what is left of the commands, then the process, and wait for it: about 5 s if a process ignores
 * SIGTERM. A zeroed struct has none. */
void sl_warden_close(struct sl_warden *warden);
