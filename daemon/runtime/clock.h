/* clock.h - the clock by which the daemon waits: it stands still while the machine sleeps. */
#pragma once

#include <stdint.h>
#include <uv.h>

/* Return the milliseconds of the monotonic clock. */
static inline uint64_t sl_clock_ms(void)
{
	return uv_hrtime() / 1000000u;
}
