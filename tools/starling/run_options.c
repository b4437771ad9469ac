#include "tools/starling/run_options.h"

#include "tools/launch/launch.h"

static void take_seed(struct argp_state *state, const char *value, void *options)
{
	struct sl_launch_options *o = options;
	o->seed = sl_option_number(state, "seed", value, 0, INT64_MAX); /* JSON has no larger integers */
	o->seed_said = true;
}

static void take_set(struct argp_state *state, const char *value, void *options)
{
	struct sl_launch_options *o = options;
	(void)state;
	o->set[o->sets++] = value;
}

const struct sl_option sl_run_options[] = {
	{"learners", 'n', "N", "number of learners (10, or that of the schedule)",
	 SL_SETS(struct sl_launch_options, learners), 2, SL_LEARNERS_MAX},
	{"rounds", 0, "T", "rounds to commit (10)", SL_SETS(struct sl_launch_options, rounds), 1,
	 SL_ROUNDS_MAX},
	{"topology", 0, "NAME|FILE",
	 "topology schedule: which learners are in range of each other (regular:4, redrawn each step)",
	 SL_SETS(struct sl_launch_options, topology)},
	{"data", 0, "DIR", "folder of IDX files, or \"digits\", drawn by the program (digits)",
	 SL_SETS(struct sl_launch_options, data)},
	{"seed", 0, "S", "seed of the initial model and of random topologies (1)", .take = take_seed},
	{"set", 0, "KEY=VALUE", "any daemon setting, each at most once (starlingd --settings lists them)",
	 .take = take_set},
	{"json", 0, NULL, "print the summary as JSON; progress goes to standard error",
	 SL_SETS(struct sl_launch_options, json)},
	{0}};
