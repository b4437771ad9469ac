/* number.h - numbers on the command line: decimal, whole, in range, or a usage error (status 2). */
#pragma once

#include <argp.h>

#include "tools/lib/command.h"

/* `option` names the option in the error. */
static inline uint64_t sl_number_or_usage(struct argp_state *state, const char *option, const char *text,
					  uint64_t least, uint64_t most)
{
	uint64_t value = least;
	if (!sl_command_number(text, least, most, &value))
		argp_failure(state, SL_EXIT_USAGE, 0, "%s %s: must be a whole number from %llu to %llu",
			     option, text, (unsigned long long)least, (unsigned long long)most);
	return value;
}
