/* server.h - the live page of a run: log records in, changed round documents out, over HTTP.
 *
 *   source --> records --> sl_timeline --> changed documents --> event "round" to every open page
 *                                                            --> event "state", once a second
 *   /            the page
 *   /events      first "rows" (a row of every round) and the documents of the last rounds, then what changes
 *   /log?learner=ID&round=N    the records of one learner of one round
 *
 * Changes are sent at most four times a second, and so rarely that making them takes at most 2 % of the time;
 * without an open page none are made. */
#pragma once

#include <uv.h>

#include "common/base/err.h"
#include "tools/timeline/timeline.h"
#include "tools/web/source.h"

struct sl_web_server;

struct sl_web_config {
	uv_loop_t *loop;
	const char *listen; /* HOST:PORT; port 0: any that is free */
	const char *token;  /* NULL: none */
	struct sl_timeline *timeline;
	struct sl_web_source source;
};

/* Read the logs and serve them from now on. Errors as sl_http_open has them. */
int sl_web_server_open(struct sl_web_server **server, const struct sl_web_config *config,
		       struct sl_error *error);
/* Read the logs to their ends, send what has changed, and tell the pages that the run has ended: a page then
 * disconnects. Later calls tell it again. */
void sl_web_server_end(struct sl_web_server *server);
/* Return the number of pages that are connected. */
uint32_t sl_web_server_pages(const struct sl_web_server *server);
/* Close; the loop must run once more, which frees the server. */
void sl_web_server_close(struct sl_web_server *server);
/* Return "http://127.0.0.1:9464". */
const char *sl_web_server_url(const struct sl_web_server *server);
