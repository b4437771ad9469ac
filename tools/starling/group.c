/* `starling group`: its verbs. */
#include "tools/starling/group.h"

#include "tools/lib/command.h"
#include "tools/lib/terminal.h"
#include "tools/lib/verbs.h"

static const struct sl_verb verbs[] = {
	{"create", sl_cmd_group_create, "NAME --address HOST:PORT [--members N] [--set KEY=VALUE]",
	 "make a group and its first learner, and print an invitation", NULL},
	{"invite", sl_cmd_group_invite, "[--expires DURATION] [--uses N]", "print a further invitation",
	 NULL},
	{"list", sl_cmd_group_list, "[--json]",
	 "show settings and learners of the group, and those that wait", NULL},
	{"remove", sl_cmd_group_remove, "NAME", "remove a learner", NULL},
	{"address", sl_cmd_group_address, "NAME ADDRESS", "give a learner another address", NULL},
	{"set", sl_cmd_group_set, "KEY VALUE [KEY VALUE]...", "change settings that all learners share",
	 NULL},
	{"rotate", sl_cmd_group_rotate, "[--address HOST:PORT]",
	 "give the learner of this machine another key", NULL},
	{"update", sl_cmd_group_update, "[--address HOST:PORT]",
	 "get the newest roster, if this learner has no links", NULL},
	{"admins", sl_cmd_group_admins, "[--key] [--add KEY] [--remove KEY] [--required K]",
	 "show or change the admins and how many of them must sign", NULL},
	{"sign", sl_cmd_group_sign, "FILE", "sign the change that another admin has proposed", NULL},
	{"export", sl_cmd_group_export, "", "print the signed roster", NULL},
	{0}};

static void print_more(FILE *out)
{
	sl_terminal_print(
		out,
		"\nA group is a set of learners with a roster that an admin has signed. The machine on which "
		"it was created has the admin key, and admits learners. Each verb has its own --help with "
		"examples.\n\n"
		"Examples:\n"
		"  starling group create ward --address clinic-a.example.org:7400\n"
		"  starling join INVITATION          (on another machine)\n"
		"  starling admit clinic-b\n");
}

int sl_cmd_group(int argc, char **argv)
{
	return sl_verbs_run("starling group", verbs, print_more, argc, argv);
}
