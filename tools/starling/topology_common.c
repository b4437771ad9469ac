/* Common parts of the verbs of `starling topology`. */
#include <stdio.h>

#include "common/field/encoding.h"
#include "common/graph/generate.h"
#include "tools/starling/topology.h"

/* ---- where a schedule comes from ---- */

const struct sl_option sl_topology_source[] = {
	{"learners", 'n', "N", "number of learners", SL_SETS(struct sl_topology_request, learners), 2,
	 SL_LEARNERS_MAX},
	{"steps", 0, "S", "number of steps (10; 1 where all steps are the same)",
	 SL_SETS(struct sl_topology_request, steps), 1, SL_TOPOLOGY_STEPS_MAX},
	{"seed", 0, "S", "seed of random topologies (1)", SL_SETS(struct sl_topology_request, seed), 0,
	 UINT64_MAX},
	{0}};

char *sl_topology_families(int key, const char *text, void *input)
{
	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC || text == NULL)
		return (char *)text;
	char *all = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&all, &size);
	if (out == NULL)
		return (char *)text;
	fputs("Topologies:\n", out);
	for (const char *const *line = sl_family_help(); *line != NULL; line++)
		fprintf(out, "  %s\n", *line);
	fprintf(out, "\n%s", text);
	fclose(out);
	return all;
}

uint64_t sl_prime_or_usage(struct argp_state *state, const char *text)
{
	uint64_t p = sl_option_number(state, "modulus", text, 3, (UINT64_C(1) << SL_P_BITS_MAX) - 1);
	if (!sl_field_is_prime(p))
		argp_failure(state, SL_EXIT_USAGE, 0, "--modulus %s: not a prime", text);
	return p;
}

uint64_t sl_p_usual(uint64_t learners, uint64_t floats)
{
	const struct sl_encoding encoding = {.kind = SL_ENCODING_WEIGHTED,
					     .values = SL_VALUES_UPDATE,
					     .update_bits = 12,
					     .clipping_range = 1,
					     .weight = 1};
	const struct sl_addends addends = {
		.learners = learners, .max_weight = 1, .n = floats, .largest_id = learners};
	return sl_encoding_modulus(&encoding, &addends, SL_P_BITS_MAX);
}

/* ---- output and exit status ---- */

int sl_topology_failed(const char *command, const struct sl_error *error)
{
	fprintf(stderr, "%s: %s\n", command, error->text);
	return error->code == SL_ERR_NOMEM || error->code == SL_ERR_FULL ? SL_EXIT_FAILED : SL_EXIT_USAGE;
}
