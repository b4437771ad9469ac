/* `starling topology`: its verbs. */
#include "tools/starling/topology.h"

#include "common/graph/generate.h"
#include "tools/lib/terminal.h"
#include "tools/lib/python.h"

static int import(int argc, char **argv)
{
	return sl_python_run("starling_topology.__main__", argc, argv);
}

static const struct sl_verb verbs[] = {
	{"generate", sl_topology_generate, "NAME[:PARAMETER] -n N [--steps S] [--seed S]", NULL},
	{"import", import, "FILE... [--range METRES] [--every SECONDS] [-o FILE]", NULL},
	{"analyze", sl_topology_analyze, "NAME[:PARAMETER]|FILE [-n N] [--tolerance C] [--json]", NULL},
	{"audit", sl_topology_audit, "NAME[:PARAMETER]|FILE [-n N] [--coalition ID,ID...] [--json]", NULL},
	{"augment", sl_topology_augment, "NAME[:PARAMETER]|FILE [-n N] [--tolerance C] [-o FILE]", NULL},
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
	return sl_command_verbs("starling topology", verbs, print_more, argc, argv);
}
