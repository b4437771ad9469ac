/* bare.h - TLS with nothing around it, between two threads over loopback: the comparison for an exchange of
 * daemons.
 */
#pragma once

#include "tools/dev/bench/bench.h"

/* Add `samples` samples: nanoseconds of CPU, of both ends, for a byte. */
int sl_bare_tls(struct sl_bench *bench, uint32_t samples, struct sl_figure *figure, struct sl_error *error);
