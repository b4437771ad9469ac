/* `starling topology`: its verbs, and `generate`. The others are Python: starling_topology. */
#include <stdio.h>

#include "common/graph/generate.h"
#include "tools/lib/help_texts.h"
#include "tools/lib/option.h"
#include "tools/lib/terminal.h"
#include "tools/lib/verbs.h"
#include "tools/topology/topology.h"

/* ---- generate ---- */

static const struct sl_option own[] = {{"learners", 'n', "N", "number of learners",
					SL_SETS(struct sl_topology_request, learners), 2, SL_LEARNERS_MAX},
				       {"steps", 0, "S",
					"number of steps (10; 1 where all steps are the same)",
					SL_SETS(struct sl_topology_request, steps), 1, SL_TOPOLOGY_STEPS_MAX},
				       {"seed", 0, "S", "seed of random topologies (1)",
					SL_SETS(struct sl_topology_request, seed), 0, UINT64_MAX},
				       {0}};

static const struct sl_usage usage = {.options = own,
				      .arguments = "NAME[:PARAMETER]",
				      .missing = "no topology given: NAME[:PARAMETER]",
				      .argument = offsetof(struct sl_topology_request, text),
				      .doc = SL_HELP_TOPOLOGY_GENERATE};

static int generate(int argc, char **argv)
{
	struct sl_topology_request request = {.seed = 1};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &request);
	int rc = sl_topology_is_name(request.text)
			 ? sl_topology_schedule(&request, &schedule, &error)
			 : sl_topology_unknown(request.text, "no such topology",
					       "; see starling topology --help", &error);
	if (rc != SL_OK)
		return sl_topology_failed("starling topology", &error);
	printf("# %s, seed %llu\n", request.text, (unsigned long long)request.seed);
	sl_schedule_write(&schedule, stdout);
	sl_schedule_close(&schedule);
	return 0; /* main reports an error of standard output */
}

/* ---- the verbs ---- */

static const struct sl_verb verbs[] = {
	{"generate", generate, "NAME[:PARAMETER] -n N [--steps S] [--seed S]", NULL, NULL},
	{"import", NULL, "FILE... [--range METRES] [--every SECONDS] [-o FILE]", NULL,
	 "starling_topology.__main__"},
	{"analyze", NULL, "NAME[:PARAMETER]|FILE [-n N] [--tolerance C] [--json]", NULL,
	 "starling_topology.analyze"},
	{"audit", NULL, "NAME[:PARAMETER]|FILE [-n N] [--coalition ID,ID...] [--json]", NULL,
	 "starling_topology.audit"},
	{"augment", NULL, "NAME[:PARAMETER]|FILE [-n N] [--tolerance C] [-o FILE]", NULL,
	 "starling_topology.augment"},
	{0}};

static void print_more(FILE *out)
{
	sl_terminal_print(out, "\nGenerate, import and examine topology schedules: which learners are in "
			       "range of each other, step by step. Topologies:\n");
	for (const char *const *line = sl_family_help(); *line != NULL; line++)
		sl_terminal_print(out, "  %s\n", *line);
	sl_terminal_print(out, "\nEach verb has its own --help with examples.\n");
}

int sl_cmd_topology(int argc, char **argv)
{
	return sl_verbs_run("starling topology", verbs, print_more, argc, argv);
}
