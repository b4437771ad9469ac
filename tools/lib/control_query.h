/* control_query.h - one request to the control sockets of several daemons at once, with one deadline for all
 * replies. */
#pragma once

#include <jansson.h>
#include <limits.h>

#include "common/base/limits.h"
#include "common/base/types.h"

struct sl_control_query {
	char shown[PATH_MAX];  /* for people; the caller's */
	char folder[PATH_MAX]; /* that the socket is in; the caller's */
	char socket[NAME_MAX + 1];
	char log[PATH_MAX]; /* where its log file may be; "": not known; the caller's */
	json_int_t id;
	char name[SL_NAME_BYTES]; /* of the learner, once they are known; id 0, ""; the caller's */
	bool skip;		  /* is not asked: the caller's */
	bool fresh;		  /* it is set up, and has begun no round: the caller's */
	int error;		  /* why it cannot be asked, as errno; 0: it is asked */
	json_t *reply;		  /* NULL: it did not answer in time */
};

/* Make all texts in `value` fit for a terminal (sl_clean_text): a learner says what it likes. */
void sl_control_query_clean(json_t *value);

/* Set error and reply of all that are not skipped, after `wait_ms` at the latest; an earlier reply is
 * released. Its texts are clean. */
void sl_control_query_all(struct sl_control_query *asked, size_t count, const json_t *request, int wait_ms);
/* Return true if no process listens on the socket: the learner is not running. */
bool sl_control_query_absent(const struct sl_control_query *asked);
/* Return why there is no reply, "is not running", "does not answer" or an error; NULL: there is one. */
const char *sl_control_query_problem(const struct sl_control_query *asked);
