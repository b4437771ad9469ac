/* topology.h - what the verbs of `starling topology` share: where a schedule comes from and goes to,
 * the options that several have, and how they end. */
#pragma once

#include <argp.h>

#include "tools/lib/command.h"
#include "tools/topology/topology.h"

/* What several verbs are told. */
struct sl_topology_options {
	struct sl_topology_request request;
	uint32_t tolerance; /* c, how many learners may collude */
	const char *output; /* where a schedule goes; NULL: standard output */
	bool writes;	    /* the verb writes one: JSON needs an output, then */
	bool json;
};
enum { SL_KEY_TOLERANCE = 2000, SL_KEY_JSON };

/* Parses SL_KEY_..., 'o', and the children's input. A verb's own parser leaves to it what it does not know;
 * the input begins with sl_topology_options. */
error_t sl_topology_option(int key, char *arg, struct argp_state *state);

/* -n, --steps, --seed and the topology itself. Their input is the request, whose seed the verb has set. */
extern const struct argp_child sl_topology_source[];
/* Help filter that puts the list of families before the examples, which stand after the \v of a doc. */
char *sl_topology_families(int key, const char *text, void *input);

/* Parses as "starling topology VERB"; argv[0] is the verb. */
void sl_topology_parse_args(const struct argp *argp, int argc, char **argv, void *input);

/* A file to write, or standard output for NULL; NULL after an error. */
FILE *sl_topology_open(const char *path, struct sl_error *error);
/* Writes the schedule below what stands there already, and closes it. Errors name the file; those of standard
 * output main finds out. */
int sl_topology_close(FILE *out, const char *path, const struct sl_schedule *schedule,
		      struct sl_error *error);

/* The exit status; after an error one line on standard error. */
int sl_topology_status(int rc, const struct sl_error *error);

int sl_topology_generate(int argc, char **argv);
int sl_topology_show(int argc, char **argv);
int sl_topology_import(int argc, char **argv);
int sl_topology_audit(int argc, char **argv);
int sl_topology_repair(int argc, char **argv);
