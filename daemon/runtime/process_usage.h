/* process_usage.h - what this process has taken of the machine so far. */
#pragma once

#include <stdint.h>

/* Seconds of CPU of all its threads, user and system. */
double sl_process_usage_cpu_s(void);

/* The most memory it has had resident at a time, in bytes; 0: the system does not say. (getrusage counts in
 * what the program that started this one had.) */
uint64_t sl_process_usage_peak_bytes(void);
