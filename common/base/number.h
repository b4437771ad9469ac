/* number.h - whole numbers in text. */
#pragma once

#include <string.h>

#include "common/base/types.h"

/* Write to `number` the number that `text` consists of: decimal digits alone. Return false if it is anything
 * else or outside [least, most]. */
static inline bool sl_number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	uint64_t n = 0;
	if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
		return false;
	for (; *text != '\0'; text++)
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*text - '0'), &n))
			return false;
	*number = n;
	return n >= least && n <= most;
}
