/* loop.h - the event loop of the learner: its handles, workers, links and control socket. */
#pragma once

#include <stdbool.h>

#include "common/base/err.h"

struct sl_daemon;
struct sl_links_handler;

/* Have SIGINT and SIGTERM end the learner, from now on while the loop runs; those that sl_loop_close has held
 * back before a restart are taken now. */
void sl_loop_signals(struct sl_daemon *daemon);
/* Start the other handles and the workers. */
int sl_loop_open(struct sl_daemon *daemon, struct sl_error *error);
/* Listen for peers and for learners that join: TLS, admission, links with the callbacks of `handler`, and
 * discovery of peers. `joins_only`: turn peers away. */
int sl_loop_links(struct sl_daemon *daemon, const struct sl_links_handler *handler, bool joins_only,
		  struct sl_error *error);
/* Listen for control clients. */
int sl_loop_control(struct sl_daemon *daemon, struct sl_error *error);
/* Listen for learners that join and for control clients, before the first program has joined. */
int sl_loop_listen_early(struct sl_daemon *daemon, struct sl_error *error);
/* Listen for peers, for learners that join, and for control clients. */
int sl_loop_listen(struct sl_daemon *daemon, struct sl_error *error);
/* Run until the learner has finished or was told to end; return the exit status. */
int sl_loop_run(struct sl_daemon *daemon);
/* Close whatever sl_loop_signals, sl_loop_open and sl_loop_listen opened; the workers have ended when it
 * returns. If the program is to start again, hold signals back. */
void sl_loop_close(struct sl_daemon *daemon);
