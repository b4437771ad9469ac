/* topology.h - common parts of the verbs of `starling topology`: where a schedule comes from and goes to,
 * shared options, exit status. */
#pragma once

#include <argp.h>

#include "tools/lib/command.h"
#include "tools/topology/topology.h"

/* Options of several verbs. */
struct sl_topology_options {
	struct sl_topology_request request;
	uint32_t tolerance; /* c, learners that may collude */
	const char *output; /* where a schedule goes; NULL: standard output */
	bool writes;	    /* the verb writes a schedule: --json then needs an output */
	bool json;
};
enum { SL_KEY_TOLERANCE = 2000, SL_KEY_JSON };

/* Parse SL_KEY_..., 'o', and the input of argp's children. A verb's own parser calls it for every other key;
 * the input begins with struct sl_topology_options. */
error_t sl_topology_option(int key, char *arg, struct argp_state *state);

/* -n, --steps, --seed and the topology itself, as argp children. Their input is the request, whose seed the
 * verb has set. */
extern const struct argp_child sl_topology_source[];
/* Insert the list of families into the help, before the examples (argp help filter). */
char *sl_topology_families(int key, const char *text, void *input);

/* Parse the arguments of "starling topology VERB"; argv[0] is the verb. */
void sl_topology_parse_args(const struct argp *argp, int argc, char **argv, void *input);

/* Open a file for writing, or standard output for NULL. Return NULL after an error. */
FILE *sl_topology_open(const char *path, struct sl_error *error);
/* Append the schedule to `out` and close it. Errors name the file; those of standard output are found by
 * main. */
int sl_topology_close(FILE *out, const char *path, const struct sl_schedule *schedule,
		      struct sl_error *error);

/* Return the exit status; after an error, print one line on standard error. */
int sl_topology_status(int rc, const struct sl_error *error);

/* Parameters of the autoencoder that is trained by default: 28 x 28 to 32 units and back. */
#define SL_FLOATS_USUAL 50992u
/* Return the prime that `text` gives for `option`; a usage error otherwise. */
uint64_t sl_prime_or_usage(struct argp_state *state, const char *option, const char *text);

int sl_topology_generate(int argc, char **argv);
int sl_topology_import(int argc, char **argv);
int sl_topology_analyze(int argc, char **argv);
int sl_topology_audit(int argc, char **argv);
int sl_topology_augment(int argc, char **argv);
