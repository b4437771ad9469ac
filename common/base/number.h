/* number.h - whole decimal numbers in a range, and on a command line a usage error (status 2) for anything
 * else. */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Set *number and return true if `text` is a whole number within [least, most] and nothing else. */
static inline bool sl_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
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

/* Return the number that `text` gives for `option`; argp ends the program otherwise. */
static inline uint64_t sl_number_or_usage(struct argp_state *state, const char *option, const char *text,
					  uint64_t least, uint64_t most)
{
	uint64_t value = least;
	if (!sl_number(text, least, most, &value))
		argp_failure(state, 2, 0, "%s %s: must be a whole number from %llu to %llu", option, text,
			     (unsigned long long)least, (unsigned long long)most);
	return value;
}
