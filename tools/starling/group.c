/* `starling group`: its verbs. */
#include "tools/starling/group.h"

#include <stdio.h>
#include <string.h>

#include "tools/lib/command.h"
#include "tools/lib/terminal.h"

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage, *summary;
} verbs[] = {
	{"create", sl_cmd_group_create, "NAME --address HOST:PORT [--members N] [--set KEY=VALUE]",
	 "make a group and its first learner, and print an invitation"},
	{"invite", sl_cmd_group_invite, "[--expires DURATION] [--uses N]", "print a further invitation"},
	{"list", sl_cmd_group_list, "[--json]", "show the learners of the group and those that wait"},
	{"remove", sl_cmd_group_remove, "NAME", "remove a learner"},
	{"address", sl_cmd_group_address, "NAME ADDRESS", "give a learner another address"},
	{"rotate", sl_cmd_group_rotate, "[--address HOST:PORT]",
	 "give the learner of this machine another key"},
	{"update", sl_cmd_group_update, "[--address HOST:PORT]",
	 "get the newest roster, if this learner has no links"},
	{"admins", sl_cmd_group_admins, "[--key] [--add KEY] [--remove KEY] [--required K]",
	 "show or change the admins and how many of them must sign"},
	{"sign", sl_cmd_group_sign, "FILE", "sign the change that another admin has proposed"},
	{"export", sl_cmd_group_export, "", "print the signed roster"},
};

#define VERBS (sizeof verbs / sizeof *verbs)

static int usage(FILE *out)
{
	for (size_t i = 0; i < VERBS; i++)
		sl_terminal_print(out, "%s starling group %s %s\n      %s\n", i == 0 ? "Usage:" : "      ",
				  verbs[i].name, verbs[i].usage, verbs[i].summary);
	sl_terminal_print(
		out,
		"\nA group is a set of learners with a roster that an admin has signed. The machine on which "
		"it was created has the admin key, and admits learners. Each verb has its own --help with "
		"examples.\n\n"
		"Examples:\n"
		"  starling group create ward --address clinic-a.example.org:7400\n"
		"  starling join INVITATION          (on another machine)\n"
		"  starling admit clinic-b\n");
	return out == stdout ? 0 : SL_EXIT_USAGE;
}

int sl_cmd_group(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "", *names[VERBS + 1] = {NULL};
	for (size_t i = 0; i < VERBS; i++) {
		names[i] = verbs[i].name;
		if (strcmp(word, verbs[i].name) != 0)
			continue;
		sl_command_set_name(argv + 1, "starling group %s", word);
		return verbs[i].run(argc - 1, argv + 1);
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0)
		return usage(stdout);
	return *word != '\0' ? sl_command_unknown("starling group", "verb", word, names) : usage(stderr);
}
