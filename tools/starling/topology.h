/* topology.h - common parts of the verbs of `starling topology`: where a schedule comes from and goes to,
 * shared options, exit status. */
#pragma once

#include "tools/lib/option.h"
#include "tools/topology/topology.h"

/* Fields of several verbs, with which their options begin. */
struct sl_topology_options {
	struct sl_topology_request request;
	uint32_t tolerance; /* c, learners that may collude */
	const char *output; /* where a schedule goes; NULL: standard output */
	bool json;
};

/* -n, --steps and --seed: fields of struct sl_topology_request, whose seed the verb has set. */
extern const struct sl_option sl_topology_source[];
/* The topology itself, and the list of families in the help. */
#define SL_TOPOLOGY_USAGE(what)                                                                              \
	.arguments = (what), .common = sl_topology_source,                                                   \
	.missing = "no topology given: NAME[:PARAMETER], a file, or -",                                      \
	.argument = offsetof(struct sl_topology_request, text), .filter = sl_topology_families
char *sl_topology_families(int key, const char *text, void *input);

/* Print an error of the command in one line. Return the exit status. */
int sl_topology_failed(const char *command, const struct sl_error *error);

/* Parameters of the autoencoder that is trained by default: 28 x 28 to 32 units and back. */
#define SL_FLOATS_USUAL 50992u
/* Return the prime that `text` gives for --modulus; a usage error otherwise. */
uint64_t sl_prime_or_usage(struct argp_state *state, const char *text);
/* Return the prime that `modulus: auto` chooses for updates of `floats` with the other defaults,
 * if no tensor needs more bits. */
uint64_t sl_p_usual(uint64_t learners, uint64_t floats);

int sl_topology_generate(int argc, char **argv);
int sl_topology_analyze(int argc, char **argv);
int sl_topology_audit(int argc, char **argv);
int sl_topology_augment(int argc, char **argv);
