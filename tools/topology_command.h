/* topology_command.h - what the subcommands of `starling topology` share: where a schedule comes from, and
 * goes to. */
#pragma once

#include <argp.h>

#include "tools/command.h"
#include "tools/topology.h"

/* A child of a subcommand's parser: -n, --steps, --seed and the topology itself. Its input is the request,
 * whose seed the subcommand has set. */
extern const struct argp sl_topology_source;
/* Help filter that puts the list of families before the examples, which stand after the \v of a doc. */
char *sl_topology_families(int key, const char *text, void *input);

/* Parses as "starling topology VERB"; argv[0] is the verb. */
void sl_topology_parse_args(const struct argp *argp, int argc, char **argv, void *input);

/* c, how many learners may collude: 0 to all but two of the most there can be. */
uint32_t sl_topology_tolerance(struct argp_state *state, const char *text);

/* One line on standard error; the exit status. */
int sl_topology_complain(const struct sl_error *error);

/* The usage error of --json without -o. */
void sl_topology_needs_output(struct argp_state *state);

/* Where a schedule is written: a file, or standard output for NULL. */
struct sl_topology_output {
	const char *path;
	FILE *out;
};
int sl_topology_open(struct sl_topology_output *output, const char *path, struct sl_error *error);
/* Errors name the file; those of standard output main finds out. */
int sl_topology_close(struct sl_topology_output *output, struct sl_error *error);

int sl_topology_generate(int argc, char **argv);
int sl_topology_show(int argc, char **argv);
int sl_topology_import(int argc, char **argv);
int sl_topology_audit(int argc, char **argv);
int sl_topology_repair(int argc, char **argv);
