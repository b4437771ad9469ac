/* option.h - the options of a command as a table, parsed by argp.
 *
 * A row names the field that the option sets, so that a command needs no parser of its own.
 */
#pragma once

#include <stddef.h>

#include "common/base/err.h"
#include "common/base/number.h"
#include "tools/lib/command.h"

struct sl_option {
	const char *name;
	int letter;	      /* short form; 0: none */
	const char *value;    /* name of its value in the help; NULL: a flag */
	const char *text;     /* in the help; NULL: hidden */
	size_t offset, size;  /* field of the command's options: SL_SETS */
	uint64_t least, most; /* of a whole number; most 0: none */
	double real_most;     /* of a number above 0; 0: none. Otherwise the field is the text */
	/* Check a text that is copied into the field, an array; NULL: the field points to the text. */
	int (*check)(const char *value, struct sl_error *error);
	/* Take the value instead of setting a field. */
	void (*take)(struct argp_state *state, const char *value, void *options);
};

#define SL_SETS(type, field) .offset = offsetof(type, field), .size = sizeof(((type *)0)->field)

struct sl_usage {
	const struct sl_option *options,
		*common;       /* end with a row {0}; common: of several commands, or NULL */
	const char *arguments; /* "NAME|FILE"; NULL: the command takes none */
	const char *doc;
	const char *missing; /* error without an argument */
	size_t argument;     /* field for the text of the only argument, unless take is set */
	void (*take)(struct argp_state *state, const char *argument, void *options);
	/* Refuse options that do not fit together; NULL: all do. */
	void (*check)(struct argp_state *state, const void *options);
};

/* Parse the command line into `options`; end the program with status 2 after wrong usage. */
void sl_option_parse(const struct sl_usage *usage, int argc, char **argv, void *options);

/* Return the number in `text`, the value of `option`, or end the program with a usage error (status 2) if it
 * is not a whole number in [least, most]. */
uint64_t sl_option_number(struct argp_state *state, const char *option, const char *text, uint64_t least,
			  uint64_t most);
