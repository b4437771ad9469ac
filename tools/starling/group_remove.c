/* `starling group remove`: remove a learner from the group. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tools/lib/option.h"
#include "tools/starling/group.h"
#include "tools/starling/group_change.h"
#include "tools/lib/help_texts.h"

struct remove_command {
	struct sl_group_options of;
	const char *name;
};

static const struct sl_usage usage = {.options = sl_group_change_options,
				      .arguments = "NAME",
				      .missing = "no learner given; 'starling group list' shows them",
				      .argument = offsetof(struct remove_command, name),
				      .doc = SL_HELP_GROUP_REMOVE};

/* Return the index of the learner to remove. */
static int find(const struct remove_command *command, const struct sl_group_change *change,
		struct sl_error *error)
{
	const struct sl_group *group = &change->own.group;
	int at = sl_group_change_find(change, command->name, error);
	if (at < 0)
		return at;
	if (&group->roster.members[at] == change->own.member)
		return sl_err_set(error, SL_ERR_REFUSED,
				  "%s is the learner of this machine, and its admin key signs the roster: "
				  "only an admin on another machine can remove it",
				  command->name);
	return at;
}

/* Remove the learner. If rounds go on, let them go on: the group does not wait for learners again. */
static void take_out(struct sl_group *group, uint32_t at)
{
	bool forming = sl_group_is_forming(group);
	sl_group_remove(group, at);
	if (!forming && group->start > group->roster.size)
		group->start = group->roster.size;
}

static void print(const struct remove_command *command, const struct sl_group_change *change)
{
	sl_group_change_print(change, command->of.json ? json_pack("{s:s}", "removed", command->name) : NULL,
			      "Removed:", "to remove", command->name);
}

int sl_cmd_group_remove(int argc, char **argv)
{
	struct remove_command command = {0};
	struct sl_group_change change = {.lock = -1};
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &command);
	int rc = sl_group_change_begin(&change, command.of.given_folder, command.of.no_wait, &error);
	int at = rc == SL_OK ? find(&command, &change, &error) : rc;
	rc = at < 0 ? at : SL_OK;
	if (rc == SL_OK) {
		take_out(&change.own.group, (uint32_t)at);
		rc = sl_group_change_end(&change, &error);
	}
	if (rc == SL_OK)
		print(&command, &change);
	sl_group_change_close(&change);
	return sl_command_status(argv[0], rc, &error);
}
