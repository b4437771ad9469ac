/* `starling launch`: its command line. */
#include <stdlib.h>
#include <string.h>

#include "tools/launch/launch.h"
#include "tools/lib/option.h"
#include "tools/starling/run_options.h"
#include "tools/lib/help_texts.h"

#define STEP_SECONDS 30.0

static const struct sl_option own[] = {
	{"run-dir", 0, "DIR", "new or empty folder for everything that the run writes (./run-DATE-TIME)",
	 SL_SETS(struct sl_launch_options, run_dir)},
	{"resume", 0, "RUNFOLDER", "resume the launched run in this folder",
	 SL_SETS(struct sl_launch_options, resume)},
	{"verify", 0, NULL,
	 "recompute each mean from the trained models, compare it bit for bit, and delete the models; needs "
	 "python3 with numpy",
	 SL_SETS(struct sl_launch_options, verify)},
	{"http", 0, "PORT",
	 "show metrics, health and records of the learners on the local ports PORT, PORT + 1 ..., and write "
	 "prometheus.yaml",
	 SL_SETS(struct sl_launch_options, http_port), 1, 65535},
	{"step-seconds", 0, "S",
	 "play the next step when all learners have searched for a view this long without a commit (30)",
	 SL_SETS(struct sl_launch_options, step_s), .real_most = 86400},
	{"chaos", 0, "KILLS",
	 "kill learners with SIGKILL, KILLS times in all, at moments drawn from --seed; each is started "
	 "again",
	 SL_SETS(struct sl_launch_options, chaos), 1, 1000000},
	{"lose", 0, "LEARNERS", "kill this number of learners for good, in the first half of the run",
	 SL_SETS(struct sl_launch_options, lose), 1, SL_LEARNERS_MAX - 2},
	{"web", 0, NULL, "show the run in a browser page, and write its report at the end",
	 SL_SETS(struct sl_launch_options, web)},
	{"no-restart", 0, NULL, "end the run when a learner dies",
	 SL_SETS(struct sl_launch_options, no_restart)},
	{0}};

/* Refuse options that a resumed run cannot change, and kills that end the run. */
static void check(struct argp_state *state, const void *options)
{
	const struct sl_launch_options *o = options;
	const char *option = o->learners != 0	   ? "--learners"
			     : o->topology != NULL ? "--topology"
			     : o->data != NULL	   ? "--data"
			     : o->run_dir != NULL  ? "--run-dir"
			     : o->seed_said	   ? "--seed"
			     : o->sets > 0	   ? "--set"
						   : NULL;
	if (o->no_restart && o->chaos > 0)
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "--chaos and --no-restart: a killed learner must be started again");
	if (o->lose > 0 && (o->command != NULL || o->resume != NULL))
		argp_failure(state, SL_EXIT_USAGE, 0, "--lose and %s: leave one of them out",
			     o->command != NULL ? "a command" : "--resume");
	if (o->resume != NULL && option != NULL && strcmp(option, "--set") == 0)
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "--resume and --set: a resumed run keeps its settings; change one of all "
			     "learners, such as dp_epsilon, in %s/roster.yaml, and resume without --set",
			     o->resume);
	if (o->resume != NULL && option != NULL)
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "--resume and %s: a resumed run keeps its settings; leave %s out, or start a "
			     "new run without --resume",
			     option, option);
}

/* Take what follows "--" as the command. */
static void take_command(struct argp_state *state, const char *argument, void *options)
{
	struct sl_launch_options *o = options;
	if (state->quoted == 0 || state->next <= state->quoted)
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "unexpected argument '%s'; a command of your own follows --, as in: starling "
			     "launch -n 4 -- python3 train.py",
			     argument);
	o->command = &state->argv[state->next - 1];
	state->next = state->argc;
}

static const struct sl_usage usage = {.options = own,
				      .common = sl_run_options,
				      .arguments = "[-- COMMAND [ARGUMENT...]]",
				      .take = take_command,
				      .check = check,
				      .doc = SL_HELP_LAUNCH};

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
	sl_option_parse(&usage, argc, argv, &o);
	sl_command_find_package();
	int status = run(&o);
	free(o.set);
	return status;
}
