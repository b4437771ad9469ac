/* control_query.h - one request to the control socket of a daemon, and its reply. */
#pragma once

#include <jansson.h>

/* Send `request`, which is taken over, to the control socket `path`. Return the reply; NULL: there is none,
 * or, with errno EAGAIN, nothing has come for `wait_s`. */
json_t *sl_control_query(const char *path, json_t *request, int wait_s);
