/* `starling simulate`: its command line. */
#include <argp.h>
#include <stdlib.h>

#include "tools/lib/command.h"
#include "tools/lib/option.h"
#include "tools/starling/simulate_run.h"

enum { KEY_ROUNDS = 256, KEY_TOPOLOGY, KEY_DATA, KEY_SEED, KEY_SET, KEY_VERIFY, KEY_JSON, KEY_CSV, KEY_SAVE };

static const struct argp_option options[] = {
	{"learners", 'n', "N", 0, "number of learners (10, or that of the schedule)", 0},
	{"rounds", KEY_ROUNDS, "T", 0, "rounds to commit (10)", 0},
	{"topology", KEY_TOPOLOGY, "NAME|FILE", 0, "topology schedule (regular:4, redrawn each step)", 0},
	{"data", KEY_DATA, "DIR", 0, "folder of IDX files, or \"digits\", drawn by the program (digits)", 0},
	{"seed", KEY_SEED, "S", 0, "seed of the initial model, random topologies and share randomness (1)",
	 0},
	{"set", KEY_SET, "KEY=VALUE", 0,
	 "any daemon setting, each at most once (starlingd --settings lists them)", 0},
	{"verify", KEY_VERIFY, NULL, 0, "compare each sum with the plain sum of the encodings", 0},
	{"csv", KEY_CSV, "FILE", 0, "write a line per round, for a spreadsheet", 0},
	{"save", KEY_SAVE, "DIR", 0, "save the last model in a folder, as a learner saves its checkpoints",
	 0},
	{"json", KEY_JSON, NULL, 0, "print the summary as JSON; progress goes to standard error", 0},
	{0}};

static const char doc[] =
	"Run the learners of `starling launch` in this process: the same training and rounds, without "
	"network, signatures and "
	"disk.\v"
	"The same options give the same models, bit for bit; they are the models that launch commits.\n"
	"\n"
	"Examples:\n"
	"  starling simulate -n 100 --topology neighbours:40\n"
	"  starling simulate -n 20 --rounds 100 --set trainer=noise --set noise_parameters=1000000 --set "
	"sharing=additive\n"
	"  starling simulate --topology walk.txt --data mnist --verify --csv rounds.csv\n"
	"\n"
	"The columns are those of launch; \"aggreg. s\" is processor time of all learners together.\n"
	"\n"
	"Exit status: 0 every round committed, and the same or exact; 1 failed or not exact; 2 bad input; "
	"130 interrupted. "
	"See also: starling launch --help\n";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct sl_simulation_options *all = state->input;
	struct sl_launch_options *o = &all->plan;
	switch (key) {
	case 'n':
		o->learners = (uint32_t)sl_number_or_usage(state, "-n", arg, 2, SL_LEARNERS_MAX);
		return 0;
	case KEY_ROUNDS:
		o->rounds = (uint32_t)sl_number_or_usage(state, "--rounds", arg, 1, SL_ROUNDS_MAX);
		return 0;
	case KEY_TOPOLOGY:
		o->topology = arg;
		return 0;
	case KEY_DATA:
		o->data = arg;
		return 0;
	case KEY_SEED:
		o->seed_said = true;
		o->seed = sl_number_or_usage(state, "--seed", arg, 0,
					     INT64_MAX); /* JSON has no larger integers */
		return 0;
	case KEY_SET:
		o->set[o->sets++] = arg;
		return 0;
	case KEY_VERIFY:
		o->verify = true;
		return 0;
	case KEY_JSON:
		o->json = true;
		return 0;
	case KEY_CSV:
		all->csv = arg;
		return 0;
	case KEY_SAVE:
		all->save = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "unexpected argument '%s'; see 'starling simulate --help'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse, NULL, doc, NULL, NULL, NULL};

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
	sl_command_parse(&argp, argc, argv, &o);
	int status = run(&o);
	free(o.plan.set);
	return status;
}
