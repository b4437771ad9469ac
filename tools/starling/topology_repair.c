/* `starling topology repair`. */
#include "tools/starling/topology.h"
#include "tools/topology/json.h"
#include "tools/topology/repair.h"

#define STEPS_SAID 12u /* of those with new links; JSON has them all */
#define LINKS_SAID 8u  /* of a step */

static const struct argp_option options[] = {
	{"tolerance", SL_KEY_TOLERANCE, "C", 0, "how many learners may collude (1)", 0},
	{"output", 'o', "FILE", 0, "write the schedule there (standard output)", 0},
	{"json", SL_KEY_JSON, NULL, 0, "print what was added as JSON on standard output; needs -o", 0},
	{0}};
static const struct argp argp = {
	options,
	sl_topology_option,
	"NAME[:PARAMETER]|FILE",
	"Add links to a schedule until every step bears C learners that collude: until any C of them may go "
	"and the others still hang together.\v"
	"A step that bears as much is left as it is. For C of 0 and 1 there is no way with fewer links; for "
	"more, none of those added can be left out. What was added goes to standard error: who has to come "
	"within whose range. \"-\" reads the schedule from standard input. Comments of a schedule are not "
	"kept.\n"
	"\n"
	"Examples:\n"
	"  starling topology repair walk.txt -o safe.txt\n"
	"  starling topology repair star -n 10 --tolerance 2 | starling topology show -\n"
	"\n"
	"Exit status: 0 done, whether there was something to add or not; 1 failed; 2 bad input.\n",
	sl_topology_source,
	sl_topology_families,
	NULL};

/* ---- what was added ---- */

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
		fprintf(stderr, "nothing to add: every step bears c = %u\n", tolerance);
	else
		fprintf(stderr, "%zu link%s added in %u of %u steps; every step bears c = %u\n", links,
			links == 1 ? "" : "s", steps, added->steps, tolerance);
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

static int print_json(const struct sl_schedule *added, uint32_t tolerance, struct sl_error *error)
{
	json_t *steps = json_array();
	for (uint32_t s = 0; s < added->steps; s++)
		json_array_append_new(steps, json_pack("{s:I, s:o}", "step", (json_int_t)s + 1, "added",
						       links_json(added, s)));
	json_t *all = json_pack("{s:I, s:I, s:I, s:o}", "learners", (json_int_t)added->learners, "tolerance",
				(json_int_t)tolerance, "added", (json_int_t)added->start[added->steps],
				"steps", steps);
	return sl_json_print(all, stdout, error);
}

/* ---- the schedule ---- */

static int write_schedule(const struct sl_topology_options *o, const struct sl_schedule *schedule,
			  struct sl_error *error)
{
	FILE *out = sl_topology_open(o->output, error);
	if (out == NULL)
		return error->code;
	fprintf(out, "# repaired for c = %u\n", o->tolerance);
	return sl_topology_close(out, o->output, schedule, error);
}

static int run(const struct sl_topology_options *o, struct sl_error *error)
{
	struct sl_schedule schedule, repaired, added;
	int rc = sl_topology_schedule(&o->request, &schedule, error);
	if (rc != SL_OK)
		return rc;
	rc = sl_repair(&schedule, o->tolerance, &repaired, &added, error);
	sl_schedule_close(&schedule);
	if (rc != SL_OK)
		return rc;
	rc = write_schedule(o, &repaired, error);
	if (rc == SL_OK && o->json)
		rc = print_json(&added, o->tolerance, error);
	else if (rc == SL_OK)
		say(&added, o->tolerance);
	sl_schedule_close(&repaired);
	sl_schedule_close(&added);
	return rc;
}

int sl_topology_repair(int argc, char **argv)
{
	struct sl_topology_options o = {.request.seed = 1, .tolerance = 1, .writes = true};
	struct sl_error error = {0};
	sl_topology_parse_args(&argp, argc, argv, &o);
	return sl_topology_status(run(&o, &error), &error);
}
