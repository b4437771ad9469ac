/* verbs.h - commands that have verbs, such as `starling group list`. */
#pragma once

#include <stdio.h>

/* A verb of a command, such as `list` of `starling group`. A table of them ends with a row {0}. */
struct sl_verb {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] reads "starling group list" */
	const char *usage, *summary;	   /* summary: NULL: none */
	const char *module;		   /* of Python, in place of `run`; NULL: none */
};
#define SL_VERBS_MOST 16u
/* Run verb argv[1] of the command `called`, or print the verbs and what `more` adds. Return the exit status.
 */
int sl_verbs_run(const char *called, const struct sl_verb *verbs, void (*more)(FILE *out), int argc,
		 char **argv);
