/* `starling launch`: its command line. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "common/graph/generate.h"
#include "tools/launch/launch.h"
#include "tools/lib/command.h"
#include "tools/lib/option.h"

enum {
	KEY_ROUNDS = 256,
	KEY_TOPOLOGY,
	KEY_DATA,
	KEY_RUN_DIR,
	KEY_RESUME,
	KEY_SEED,
	KEY_SET,
	KEY_VERIFY,
	KEY_JSON,
	KEY_STEP_SECONDS,
	KEY_NO_RESTART,
	KEY_CHAOS
};

#define STEP_SECONDS 30.0
#define STEP_SECONDS_MAX 86400.0
#define KILLS_MAX 1000000u

static const struct argp_option options[] = {
	{"learners", 'n', "N", 0, "how many daemons (10, or what the schedule says)", 0},
	{"rounds", KEY_ROUNDS, "T", 0, "rounds to commit (10)", 0},
	{"topology", KEY_TOPOLOGY, "NAME|FILE", 0,
	 "which learners are in range of each other (regular:4, redrawn each step)", 0},
	{"data", KEY_DATA, "DIR", 0, "folder of IDX files, or \"digits\", drawn by the program (digits)", 0},
	{"run-dir", KEY_RUN_DIR, "DIR", 0,
	 "new or empty folder for everything that the run writes (./run-DATE-TIME)", 0},
	{"resume", KEY_RESUME, "RUNFOLDER", 0, "resume the launched run in this folder", 0},
	{"seed", KEY_SEED, "S", 0, "seed of the initial model and of random topologies (1)", 0},
	{"set", KEY_SET, "KEY=VALUE", 0,
	 "any daemon setting, each at most once (starlingd --settings lists them)", 0},
	{"verify", KEY_VERIFY, NULL, 0,
	 "gather every learner's secret encoding, check each model bit for bit, delete them", 0},
	{"json", KEY_JSON, NULL, 0, "print the summary as JSON; progress goes to standard error", 0},
	{"step-seconds", KEY_STEP_SECONDS, "S", 0,
	 "give up a step of the schedule when all learners have looked for each other this long (30)", 0},
	{"chaos", KEY_CHAOS, "KILLS", 0,
	 "kill learners with SIGKILL, KILLS times in all; --seed decides which and when; each is started "
	 "again",
	 0},
	{"no-restart", KEY_NO_RESTART, NULL, 0, "a learner that dies ends the run", 0},
	{0}};

static double seconds_or_usage(struct argp_state *state, const char *text)
{
	char *end = NULL;
	double value = strtod(text, &end);
	if (end == text || *end != '\0' || !(value > 0 && value <= STEP_SECONDS_MAX))
		argp_failure(state, SL_EXIT_USAGE, 0, "--step-seconds %s: must be above 0, at most %g", text,
			     STEP_SECONDS_MAX);
	return value;
}

/* Refuse options that only a new run can have. */
static void check_resume(struct argp_state *state, const struct sl_launch_options *o)
{
	const char *option = o->learners != 0	   ? "--learners"
			     : o->topology != NULL ? "--topology"
			     : o->data != NULL	   ? "--data"
			     : o->run_dir != NULL  ? "--run-dir"
			     : o->seed_said	   ? "--seed"
			     : o->sets > 0	   ? "--set"
						   : NULL;
	if (option != NULL)
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "--resume and %s: a resumed run keeps its settings; leave %s out, or start a "
			     "new run without --resume",
			     option, option);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct sl_launch_options *o = state->input;
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
	case KEY_RUN_DIR:
		o->run_dir = arg;
		return 0;
	case KEY_RESUME:
		o->resume = arg;
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
	case KEY_STEP_SECONDS:
		o->step_s = seconds_or_usage(state, arg);
		return 0;
	case KEY_CHAOS:
		o->chaos = (uint32_t)sl_number_or_usage(state, "--chaos", arg, 1, KILLS_MAX);
		return 0;
	case KEY_NO_RESTART:
		o->no_restart = true;
		return 0;
	case ARGP_KEY_END:
		if (o->no_restart && o->chaos > 0)
			argp_failure(
				state, SL_EXIT_USAGE, 0,
				"--chaos and --no-restart: a learner that is killed must be started again");
		if (o->resume != NULL)
			check_resume(state, o);
		return 0;
	case ARGP_KEY_ARG:
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "unexpected argument '%s'; see 'starling launch --help'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options,
	parse,
	NULL,
	"Run N daemons on this machine: identities, roster and logs in a run "
	"folder; play the topology schedule to them and print "
	"a line per round. Nothing is left running at the end.\v"
	"Examples:\n"
	"  starling launch\n"
	"  starling launch -n 12 --rounds 20 --topology geometric:0.5 --verify\n"
	"  starling launch --topology walk.txt --set decimals=3 --set split=by_label\n"
	"  starling launch --verify --chaos 10\n"
	"  starling launch --resume run-20261122-015350\n"
	"  starling launch --json >summary.json\n"
	"\n"
	"A learner that dies is started again: at once, then after 0.25 s doubling to 5 s. Ten "
	"deaths within a minute, or three in a row before it was up, end the run.\n"
	"\n"
	"In the last column, \"same\" says that all learners committed the same model, "
	"which is the exact mean by construction; \"exact\" that --verify has "
	"recomputed it from the encodings; \"NOT EXACT\" that it differs. A narrow terminal "
	"gets fewer columns, a wide one or a pipe also the megabytes sent and the engine.\n"
	"\n"
	"Exit status: 0 every round committed, and the same or exact; 1 failed or not "
	"exact; 2 bad input; 130 interrupted. See also: starling topology --help\n",
	NULL,
	NULL,
	NULL};

static int run(const struct sl_launch_options *o)
{
	struct sl_progress progress;
	struct sl_plan plan;
	struct sl_error error = {0};
	sl_progress_open(&progress, o->json ? stderr : stdout, !o->json);
	int rc = o->resume != NULL ? sl_resume_plan(&plan, o, &progress, &error)
				   : sl_plan_make(&plan, o, &progress, &error);
	if (rc != SL_OK) {
		fprintf(stderr, "starling launch: %s\n", error.text);
		return error.code == SL_ERR_NOMEM ? SL_EXIT_FAILED : SL_EXIT_USAGE;
	}
	int status = 0;
	if (sl_resume_finished(&plan))
		sl_progress_line(&progress,
				 "all %u rounds of %s are committed: nothing to resume; add rounds with "
				 "--rounds N",
				 plan.settings.rounds, o->resume);
	else
		status = sl_launch_run(&plan, &progress);
	sl_plan_close(&plan);
	return status;
}

int sl_cmd_launch(int argc, char **argv)
{
	struct sl_launch_options o = {.program = sl_command_program(), .seed = 1, .step_s = STEP_SECONDS};
	o.set = calloc((size_t)argc + 1, sizeof *o.set);
	if (o.set == NULL)
		return SL_EXIT_FAILED;
	sl_command_parse(&argp, argc, argv, &o);
	int status = run(&o);
	free(o.set);
	return status;
}
