/* control_query.h - one request to several daemons' control sockets at once: who answers is not kept waiting
 * by who does not. */
#pragma once

#include <jansson.h>
#include <limits.h>

#include "common/base/types.h"

struct sl_control_query {
	char shown[PATH_MAX];  /* for people; the caller's */
	char folder[PATH_MAX]; /* that the socket is in; the caller's */
	char socket[NAME_MAX + 1];
	bool skip;     /* is not asked: the caller's */
	int error;     /* why it is not running, as errno; 0: it is */
	json_t *reply; /* NULL: it did not answer in time */
};

/* Fills in error and reply of all that are not to be skipped; what was there before is let go. SL_ERR_NOMEM.
 */
int sl_control_query_all(struct sl_control_query *asked, size_t count, const json_t *request, int wait_ms);
