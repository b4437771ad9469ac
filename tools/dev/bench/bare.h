/* bare.h - what a neighbour exchange is compared with: the same bytes over a plain socket, and over TLS with
 * nothing around it, from one process to another over loopback; in CPU time of both. What fails ends the
 * process, with status 1.
 */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "daemon/net/tls.h"

/* Two identities that know each other; in a folder of their own, which is made in another. */
struct sl_bare_pair {
	char folder[PATH_MAX];
	struct sl_identity identities[2];
	struct sl_member members[2];
	struct sl_roster roster;
	struct sl_tls tls[2];
};

void sl_bare_open(struct sl_bare_pair *pair, const char *within);
void sl_bare_close(struct sl_bare_pair *pair);

/* Nanoseconds of user and system time of this process. */
double sl_bare_cpu_ns(void);
/* Of this process and of a child, which runs `there` while `here` runs; each end of a connected socket pair
 * is theirs. */
double sl_bare_both(void (*here)(int socket, void *argument), void (*there)(int socket, void *argument),
		    void *argument);

double sl_bare_tcp(size_t bytes);
double sl_bare_tls(const struct sl_bare_pair *pair, size_t bytes);

/* Ends the process with a word of why, unless `good`. */
void sl_bare_insist(bool good, const char *what);
