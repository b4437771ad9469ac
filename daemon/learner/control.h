/* control.h - the control socket: a Unix socket of mode 0600, one JSON object a line, both ways.
 *
 *   {"op":"range","step":3,"peers":[2,5]}   the radio: who is in range from the next DISCOVER on (`in_range:
 * told`)
 *   {"op":"status"}                         where the learner is
 *   {"op":"watch"}                          every log record from now on, as it is written
 *   {"op":"stop"}                           end in order
 *
 * Each request gets one line back: {"ok":true,...} or {"ok":false,"error":"..."}.
 */
#pragma once

#include "common/base/err.h"

struct sl_daemon;
struct sl_control;

int sl_control_open(struct sl_control **control, struct sl_daemon *daemon, const char *path,
		    struct sl_error *error);
/* Closes handles and removes the socket; the loop must run once more before sl_control_free. */
void sl_control_close(struct sl_control *control);
void sl_control_free(struct sl_control *control);
