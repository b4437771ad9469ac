/* `starling topology augment`. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "tools/starling/topology.h"
#include "tools/topology/augment.h"
#include "tools/lib/help_texts.h"

#define STEPS_SAID 12u /* steps with new links that are printed; JSON has them all */
#define LINKS_SAID 8u  /* links of a step that are printed */

static const struct sl_option own[] = {
	{"tolerance", 0, "C", "how many learners may collude (1)",
	 SL_SETS(struct sl_topology_options, tolerance), 0, SL_LEARNERS_MAX - 2},
	{"output", 'o', "FILE", "write the schedule there (standard output)",
	 SL_SETS(struct sl_topology_options, output)},
	{"json", 0, NULL, "print what was added as JSON on standard output; needs -o",
	 SL_SETS(struct sl_topology_options, json)},
	{0}};

static void check_output(struct argp_state *state, const void *options)
{
	const struct sl_topology_options *o = options;
	if (o->json && o->output == NULL)
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "--json prints on standard output: write the schedule to a file with -o FILE");
}

static const struct sl_usage usage = {SL_TOPOLOGY_USAGE("NAME[:PARAMETER]|FILE"), .options = own,
				      .check = check_output, .doc = SL_HELP_TOPOLOGY_AUGMENT};

/* ---- the added links ---- */

static void say_step(const struct sl_schedule *added, uint32_t step)
{
	size_t count = sl_schedule_count(added, step), said = count > LINKS_SAID ? LINKS_SAID : count;
	const struct sl_edge *edges = sl_schedule_edges(added, step);
	fprintf(stderr, "step %u: added", step + 1);
	for (size_t i = 0; i < said; i++)
		fprintf(stderr, " %u-%u", edges[i].a + 1, edges[i].b + 1);
	if (count > said)
		fprintf(stderr, " ... and %zu more", count - said);
	fputc('\n', stderr);
}

static void say(const struct sl_schedule *added, uint32_t tolerance)
{
	uint32_t steps = 0;
	for (uint32_t s = 0; s < added->steps; s++)
		if (sl_schedule_count(added, s) > 0 && ++steps <= STEPS_SAID)
			say_step(added, s);
	if (steps > STEPS_SAID)
		fprintf(stderr, "... and in %u more steps\n", steps - STEPS_SAID);
	size_t links = added->start[added->steps];
	if (links == 0)
		fprintf(stderr, "no links added: every step already tolerates c = %u\n", tolerance);
	else
		fprintf(stderr, "%zu link%s added in %u of %u steps; every step now tolerates c = %u\n",
			links, links == 1 ? "" : "s", steps, added->steps, tolerance);
}

static json_t *links_json(const struct sl_schedule *added, uint32_t step)
{
	json_t *links = json_array();
	const struct sl_edge *edges = sl_schedule_edges(added, step);
	for (size_t i = 0; i < sl_schedule_count(added, step); i++)
		json_array_append_new(
			links, json_pack("[I, I]", (json_int_t)edges[i].a + 1, (json_int_t)edges[i].b + 1));
	return links;
}

static void print_json(const struct sl_schedule *added, uint32_t tolerance)
{
	json_t *steps = json_array();
	for (uint32_t s = 0; s < added->steps; s++)
		json_array_append_new(steps, json_pack("{s:I, s:o}", "step", (json_int_t)s + 1, "added",
						       links_json(added, s)));
	json_t *all = json_pack("{s:I, s:I, s:I, s:o}", "learners", (json_int_t)added->learners, "tolerance",
				(json_int_t)tolerance, "added", (json_int_t)added->start[added->steps],
				"steps", steps);
	sl_command_print_json(all, JSON_INDENT(2));
}

/* ---- the schedule ---- */

static int write_schedule(const struct sl_topology_options *o, const struct sl_schedule *schedule,
			  struct sl_error *error)
{
	FILE *out = o->output != NULL ? fopen(o->output, "we") : stdout;
	if (out == NULL)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", o->output, strerror(errno));
	fprintf(out, "# augmented for c = %u\n", o->tolerance);
	bool lost = sl_schedule_write(schedule, out) != SL_OK;
	if (o->output == NULL || (fclose(out) == 0 && !lost)) /* main finds an error of standard output */
		return SL_OK;
	return sl_err_set(error, SL_ERR_FULL, "%s: cannot be written: %s", o->output, strerror(errno));
}

static int run(const struct sl_topology_options *o, struct sl_error *error)
{
	struct sl_schedule schedule, augmented, added;
	int rc = sl_topology_schedule(&o->request, &schedule, error);
	if (rc != SL_OK)
		return rc;
	rc = sl_augment_schedule(&schedule, o->tolerance, &augmented, &added, error);
	sl_schedule_close(&schedule);
	if (rc != SL_OK)
		return rc;
	rc = write_schedule(o, &augmented, error);
	if (rc == SL_OK && o->json)
		print_json(&added, o->tolerance);
	else if (rc == SL_OK)
		say(&added, o->tolerance);
	sl_schedule_close(&augmented);
	sl_schedule_close(&added);
	return rc;
}

int sl_topology_augment(int argc, char **argv)
{
	struct sl_topology_options o = {.request.seed = 1, .tolerance = 1};
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &o);
	return run(&o, &error) == SL_OK ? 0 : sl_topology_failed("starling topology", &error);
}
