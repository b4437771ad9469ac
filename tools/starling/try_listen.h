/* try_listen.h - whether a learner could listen at an address of this machine now. */
#pragma once

#include <stdbool.h>

/* Listen at the first address that "host:port" resolves to, and stop again. Return 0, or the reason as errno;
 * below 0: it does not resolve, as getaddrinfo says. `resolve`: only that, since a running learner has the
 * port. */
int sl_try_listen(const char *address, bool resolve);
