/* number.h - numbers on the command line: decimal, whole, in range, or a usage error (status 2). */
#pragma once

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

/* `option` names the option in the error. */
static inline uint64_t sl_number_or_usage(struct argp_state *state, const char *option, const char *text, uint64_t least,
					  uint64_t most)
{
	char *end = NULL;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end != '\0')
		argp_error(state, "%s %s: not a whole number", option, text);
	else if (errno != 0 || value < least || value > most)
		argp_error(state, "%s %s: must be %llu to %llu", option, text, (unsigned long long)least,
			   (unsigned long long)most);
	return value;
}
