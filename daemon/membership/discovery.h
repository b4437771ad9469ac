/* discovery.h - members found by multicast DNS, for the links and the log; setting `discover`. */
#pragma once

#include "common/base/err.h"

struct sl_membership;

/* Announce this learner, which listens on `listen`, and look for the members, if it is set; the links are
 * open. */
int sl_discovery_open(struct sl_membership *m, const char *listen, struct sl_error *error);
