/* `starling topology`: its verbs. */
#include "tools/starling/topology.h"

#include <string.h>

#include "common/graph/generate.h"
#include "tools/lib/terminal.h"
#include "tools/starling/python.h"

static int import(int argc, char **argv)
{
	sl_command_set_name(argv, "starling topology %s", argv[0]);
	return sl_python_run("starling_topology.__main__", argc, argv);
}

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage;
} verbs[] = {
	{"generate", sl_topology_generate, "NAME[:PARAMETER] -n N [--steps S] [--seed S]"},
	{"import", import, "FILE... [--range METRES] [--every SECONDS] [-o FILE]"},
	{"analyze", sl_topology_analyze, "NAME[:PARAMETER]|FILE [-n N] [--tolerance C] [--json]"},
	{"audit", sl_topology_audit, "NAME[:PARAMETER]|FILE [-n N] [--coalition ID,ID...] [--json]"},
	{"augment", sl_topology_augment, "NAME[:PARAMETER]|FILE [-n N] [--tolerance C] [-o FILE]"},
};

#define VERBS (sizeof verbs / sizeof *verbs)

static int usage(FILE *out)
{
	for (size_t i = 0; i < VERBS; i++)
		sl_terminal_print(out, "%s starling topology %s %s\n", i == 0 ? "Usage:" : "      ",
				  verbs[i].name, verbs[i].usage);
	sl_terminal_print(out, "\nGenerate, import and examine topology schedules: which learners are in "
			       "range of each other, step by step. Topologies:\n");
	for (const char *const *line = sl_family_help(); *line != NULL; line++)
		sl_terminal_print(out, "  %s\n", *line);
	sl_terminal_print(out, "\nEach verb has its own --help with examples.\n");
	return out == stdout ? 0 : SL_EXIT_USAGE;
}

static int unknown_verb(const char *word)
{
	const char *names[VERBS + 1] = {NULL};
	for (size_t i = 0; i < VERBS; i++)
		names[i] = verbs[i].name;
	return sl_command_unknown("starling topology", "verb", word, names);
}

int sl_cmd_topology(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	for (size_t i = 0; i < VERBS; i++)
		if (strcmp(word, verbs[i].name) == 0)
			return verbs[i].run(argc - 1, argv + 1);
	if (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0)
		return usage(stdout);
	return *word != '\0' ? unknown_verb(word) : usage(stderr);
}
