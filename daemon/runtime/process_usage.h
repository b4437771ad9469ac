/* process_usage.h - CPU time and memory that this process has used so far. */
#pragma once

#include <stdint.h>

/* Return the CPU seconds of all threads, user and system. */
double sl_process_usage_cpu_s(void);

/* Return the resident memory ("VmRSS") or its peak ("VmHWM") in bytes, as /proc/self/status has it; 0:
 * unknown. (getrusage would include the peak of the parent before exec.) */
uint64_t sl_process_usage_bytes(const char *name);
