/* bare.h - TLS with nothing around it, between two processes over loopback: what an exchange of daemons is
 * compared with.
 *
 * A failure ends the process with status 1.
 */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "daemon/net/tls.h"

/* Two identities with one roster, in a folder of their own within another. */
struct sl_bare_pair {
	char folder[PATH_MAX];
	struct sl_identity identities[2];
	struct sl_member members[2];
	struct sl_roster roster;
	struct sl_tls tls[2];
};

void sl_bare_open(struct sl_bare_pair *pair, const char *within);
void sl_bare_close(struct sl_bare_pair *pair);

/* Return the CPU time of both ends, in nanoseconds, for sending `bytes` over TLS between two processes. */
double sl_bare_tls(const struct sl_bare_pair *pair, size_t bytes);

/* End the process with a message unless `good`. */
void sl_bare_insist(bool good, const char *what);
