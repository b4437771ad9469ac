/* joining.h - the running learner and the learners that join its group: opens the admission, logs what it
 * says, admits without a question where the admin wanted that, and completes the change of an own key. */
#pragma once

#include <jansson.h>

#include "common/base/err.h"
#include "common/core/core.h"
#include "daemon/net/links.h"

struct sl_daemon;

/* Serve learners that join, if the roster is signed: set this in the configuration of the links, which are
 * opened after it. TLS is open; the store is, or is NULL while the group is forming. */
int sl_joining_open(struct sl_daemon *daemon, struct sl_links_config *config, struct sl_error *error);
void sl_joining_close(struct sl_daemon *daemon);
/* Admit the learners that wait and are admitted without a question, if the group may change. While it is
 * forming, one version admits all of them, once no further one has come since the last look; afterwards each
 * version admits one. */
void sl_joining_look(struct sl_daemon *daemon);
/* Return true if the group may change: it is forming, or a round has committed under its roster. */
bool sl_joining_settled(const struct sl_daemon *daemon);
/* Answer the control request "group". */
json_t *sl_joining_status(const struct sl_daemon *daemon);
/* Give up the key of before once a round has committed under the next one. */
void sl_joining_durable(struct sl_daemon *daemon, const struct sl_durable *durable);
