/* control_query.h - one request to the control socket of a daemon, and its reply. */
#pragma once

#include <jansson.h>

/* Send `request`, which is taken over, to the control socket `path`. Return the reply, whose texts are fit
 * for a terminal (sl_clean_text: a learner says what it likes); NULL: there is none within `wait_ms`, and
 * *problem says why: SL_CONTROL_ABSENT, "does not answer" or an error of the system. */
json_t *sl_control_query(const char *path, json_t *request, int wait_ms, const char **problem);
#define SL_CONTROL_ABSENT "is not running"

/* Return a text or a number of a reply; "" or 0 without it. */
const char *sl_control_query_text(const json_t *object, const char *key);
long long sl_control_query_number(const json_t *object, const char *key);
