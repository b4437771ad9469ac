/* `starling group set`: change settings that all learners of a group share. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tools/lib/option.h"
#include "tools/starling/group.h"
#include "tools/starling/group_change.h"
#include "tools/lib/help_texts.h"

struct set_command {
	struct sl_group_options of;
	uint32_t count; /* of keys and values */
	const char *words[2 * SL_SETTINGS_SHARED_MAX];
};

static void take(struct argp_state *state, const char *argument, void *options)
{
	struct set_command *command = options;
	if (command->count == 2 * SL_SETTINGS_SHARED_MAX)
		argp_failure(state, SL_EXIT_USAGE, 0, "'%s' is one argument too many", argument);
	command->words[command->count++] = argument;
}

static void check(struct argp_state *state, const void *options)
{
	const struct set_command *command = options;
	if (command->count % 2 != 0)
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "no value given for %s; settings and values alternate: rounds 200",
			     command->words[command->count - 1]);
}

static const struct sl_usage usage = {.options = sl_group_options,
				      .arguments = "KEY VALUE [KEY VALUE]...",
				      .missing = "no setting given; 'starlingd --settings' lists them",
				      .take = take,
				      .check = check,
				      .doc = SL_HELP_GROUP_SET};

/* Read the folder. Nothing is waited for: members stay the same (GROUP.md §12.1 Roster changes). */
static int begin(const struct set_command *command, struct sl_group_change *change, struct sl_error *error)
{
	int rc = sl_group_change_read(change, command->of.given_folder, false, error);
	if (rc != SL_OK || (!sl_group_is_signed(&change->now) && change->now.settings != NULL))
		return rc;
	if (!sl_group_is_signed(&change->now))
		return sl_err_set(error, SL_ERR_REFUSED,
				  "%s is a list of learners without settings: starlingd.yaml of each has "
				  "them; to share them, see SETTINGS in roster(5)",
				  change->own.settings.roster);
	return sl_group_folder_need_admin(change->folder, &change->own, error);
}

static void print(const struct set_command *command, const struct sl_group_change *change)
{
	char text[400] = "";
	json_t *settings = command->of.json ? json_object() : NULL, *object = NULL;
	for (uint32_t i = 0; i < command->count; i += 2) {
		size_t used = strlen(text);
		snprintf(text + used, sizeof text - used, "%s%s: %s", i > 0 ? ", " : "", command->words[i],
			 command->words[i + 1]);
		json_object_set_new(settings, command->words[i], json_string(command->words[i + 1]));
	}
	if (settings != NULL)
		object = json_pack("{s:s, s:o}", "roster", change->own.settings.roster, "settings", settings);
	if (sl_group_is_signed(&change->now))
		sl_group_change_print(change, object, "Changed:", "to change", text);
	else if (object != NULL)
		sl_command_print_json(object, 0);
	else
		printf("Changed: %s; in %s. Copy this file to each learner, and run there: starling reload\n",
		       text, change->own.settings.roster);
}

int sl_cmd_group_set(int argc, char **argv)
{
	struct set_command command = {.count = 0};
	struct sl_group_change change = {.lock = -1};
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &command);
	int rc = begin(&command, &change, &error);
	for (uint32_t i = 0; rc == SL_OK && i < command.count; i += 2)
		rc = sl_group_set(&change.own.group, command.words[i], command.words[i + 1], &error);
	if (rc == SL_OK)
		rc = sl_group_change_end(&change, &error);
	if (rc == SL_OK)
		print(&command, &change);
	sl_group_change_close(&change);
	return sl_command_status(argv[0], rc, &error);
}
