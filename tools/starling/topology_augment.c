/* `starling topology augment`: its command line, and the links that are missing. What it writes is Python:
 * starling_topology/augment.py. */
#include <errno.h>
#include <string.h>

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

/* Hand over the schedule, and the schedule of what it lacks. */
static int hand_over(const struct sl_topology_options *o, struct sl_error *error)
{
	struct sl_schedule schedule, added;
	int rc = sl_topology_schedule(&o->request, &schedule, error);
	if (rc != SL_OK)
		return rc;
	rc = sl_augment_schedule(&schedule, o->tolerance, &added, error);
	FILE *input = rc == SL_OK ? sl_python_input() : NULL;
	if (rc == SL_OK && (input == NULL || sl_schedule_write(&schedule, input) != SL_OK ||
			    sl_schedule_write(&added, input) != SL_OK || !sl_python_reads(input)))
		rc = sl_err_set(error, SL_ERR_FULL, SL_TOPOLOGY_NO_MEMORY, strerror(errno));
	sl_schedule_close(&schedule);
	sl_schedule_close(&added);
	return rc;
}

int sl_topology_augment(int argc, char **argv)
{
	struct sl_topology_options o = {.request.seed = 1, .tolerance = 1};
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &o);
	char tolerance[16];
	const char *words[] = {argv[0], tolerance, o.json ? "1" : "0", o.output};
	snprintf(tolerance, sizeof tolerance, "%u", o.tolerance);
	return hand_over(&o, &error) == SL_OK
		       ? sl_python_run("starling_topology.augment", o.output != NULL ? 4 : 3, (char **)words)
		       : sl_topology_failed("starling topology", &error);
}
