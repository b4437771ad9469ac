/* `starling topology augment`: its command line, and the links that are missing. What it writes is Python:
 * starling_topology/augment.py. */
#include "tools/lib/python.h"
#include "tools/starling/topology.h"
#include "tools/topology/augment.h"
#include "tools/lib/help_texts.h"

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

/* Return the schedule, and the schedule of what it lacks, as a file; NULL after an error. */
static FILE *both(const struct sl_topology_options *o, struct sl_error *error)
{
	struct sl_schedule schedule, added;
	FILE *file = NULL;
	if (sl_topology_schedule(&o->request, &schedule, error) != SL_OK)
		return NULL;
	if (sl_augment_schedule(&schedule, o->tolerance, &added, error) == SL_OK &&
	    (file = sl_python_input()) != NULL) {
		sl_schedule_write(&schedule, file);
		sl_schedule_write(&added, file);
	}
	sl_schedule_close(&schedule);
	sl_schedule_close(&added);
	return file;
}

int sl_topology_augment(int argc, char **argv)
{
	struct sl_topology_options o = {.request.seed = 1, .tolerance = 1};
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &o);
	char tolerance[16];
	const char *words[] = {argv[0], tolerance, o.json ? "1" : "0", o.output};
	snprintf(tolerance, sizeof tolerance, "%u", o.tolerance);
	FILE *input = both(&o, &error);
	if (error.code != SL_OK)
		return sl_topology_failed("starling topology", &error);
	return sl_python_run_on("starling_topology.augment", o.output != NULL ? 4 : 3, words, input);
}
