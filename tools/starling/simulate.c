/* `starling simulate`: its command line. */
#include <stdlib.h>
#include <string.h>

#include "tools/starling/run_options.h"
#include "tools/starling/simulate_run.h"
#include "tools/lib/help_texts.h"

static void take_coordinates(struct argp_state *state, const char *text, void *options)
{
	struct sl_simulation_options *o = options;
	char copy[1024], *rest = NULL;
	if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
		argp_failure(state, SL_EXIT_USAGE, 0, "--coordinates: too long");
	for (char *word = strtok_r(copy, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
		uint32_t count = o->coordinate_count, least = count > 0 ? o->coordinates[count - 1] + 1 : 0;
		if (count == SL_RUNNER_COORDINATES_MAX)
			argp_failure(state, SL_EXIT_USAGE, 0, "--coordinates: at most %u", count);
		o->coordinates[o->coordinate_count++] =
			(uint32_t)sl_option_number(state, "coordinates", word, least, SL_CHUNK_ELEMENTS - 1);
	}
}

static const struct sl_option own[] = {
	{"verify", 0, NULL, "compare each sum with the plain sum of the encodings",
	 SL_SETS(struct sl_simulation_options, plan.verify)},
	{"csv", 0, "FILE", "write a line per round, for a spreadsheet",
	 SL_SETS(struct sl_simulation_options, csv)},
	{"save", 0, "DIR", "save the last model in a folder, as a learner saves its checkpoints",
	 SL_SETS(struct sl_simulation_options, save)},
	{"trained", 0, "DIR",
	 "write the models as they are trained, DIR/ROUND.f32 (float32, a learner after the other)",
	 SL_SETS(struct sl_simulation_options, trained)},
	{"states", 0, "FILE",
	 "with mixing=metropolis, write a line \"ROUND EXCHANGE LEARNER SUM ...\": the sums mod p that the "
	 "learner would decode if this exchange were its last",
	 SL_SETS(struct sl_simulation_options, states)},
	{"coordinates", 0, "LIST", "parameters in --states, ascending from 0, as in 0,40,80",
	 .take = take_coordinates},
	{0}};

static const struct sl_usage usage = {.options = own, .common = sl_run_options, .doc = SL_HELP_SIMULATE};

static int run(const struct sl_simulation_options *o)
{
	struct sl_simulation simulation;
	struct sl_progress progress;
	struct sl_error error = {0};
	sl_progress_open(&progress, o->plan.json ? stderr : stdout, !o->plan.json);
	if (sl_simulate_open(&simulation, o, &progress, &error) != SL_OK) {
		fprintf(stderr, "starling simulate: %s\n", error.text);
		return error.code == SL_ERR_NOMEM ? SL_EXIT_FAILED : SL_EXIT_USAGE;
	}
	int status = sl_simulate_run(&simulation);
	sl_simulate_close(&simulation);
	return status;
}

int sl_cmd_simulate(int argc, char **argv)
{
	struct sl_simulation_options o = {.plan = {.program = sl_command_program(), .seed = 1}};
	o.plan.set = calloc((size_t)argc + 1, sizeof *o.plan.set);
	if (o.plan.set == NULL)
		return SL_EXIT_FAILED;
	sl_option_parse(&usage, argc, argv, &o);
	int status = run(&o);
	free(o.plan.set);
	return status;
}
