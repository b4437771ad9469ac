/* joining.h - the learners that join the group of the running learner: answers and logs their requests,
 * admits those whose invitation admits without a question, and completes a rotation of the own key. */
#pragma once

#include <jansson.h>

#include "common/base/err.h"
#include "common/core/core.h"
#include "daemon/net/links.h"

struct sl_membership;

/* Serve learners that join, if the roster is signed: write that into `config`, with which the links are
 * opened afterwards. TLS is open. The store is open, or NULL while the group is forming. */
int sl_joining_open(struct sl_membership *m, struct sl_links_config *config, struct sl_error *error);
void sl_joining_close(struct sl_membership *m);
/* Return true if the file of a signed roster has a newer version than this learner has taken. */
bool sl_joining_has_newer(struct sl_membership *m);
/* Admit learners that wait and need no question, if the group may change. While the group is forming, one
 * version admits all of them, when no further one has come since the last look; afterwards each version
 * admits one. */
void sl_joining_look(struct sl_membership *m);
/* Answer the control request "group". */
json_t *sl_joining_status(const struct sl_membership *m);
/* Delete the previous key once a round has committed under the new one. */
void sl_joining_durable(struct sl_membership *m, const struct sl_durable *durable);
