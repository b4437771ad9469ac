/* option.h - numbers as values of options of a command line. */
#pragma once

#include <argp.h>

#include "common/base/number.h"
#include "tools/lib/command.h"

/* Return the number in `text`, the value of `option`, or end the program with a usage error (status 2) if it
 * is not a whole number in [least, most]. */
static inline uint64_t sl_number_or_usage(struct argp_state *state, const char *option, const char *text,
					  uint64_t least, uint64_t most)
{
	uint64_t value = least;
	if (!sl_number_parse(text, least, most, &value))
		argp_failure(state, SL_EXIT_USAGE, 0, "%s %s: must be a whole number from %llu to %llu",
			     option, text, (unsigned long long)least, (unsigned long long)most);
	return value;
}
