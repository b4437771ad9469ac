/* `starling group address`: give a learner of the group another address. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tools/lib/option.h"
#include "tools/starling/group.h"
#include "tools/starling/group_change.h"
#include "tools/lib/help_texts.h"

struct address_command {
	struct sl_group_options of;
	const char *name, *address;
};

static void take(struct argp_state *state, const char *argument, void *options)
{
	struct address_command *command = options;
	struct sl_error error;
	if (state->arg_num == 0) {
		command->name = argument;
		return;
	}
	if (state->arg_num > 1)
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "'%s' is one argument too many; put commas between addresses", argument);
	if (sl_roster_addresses_check(argument, &error) != SL_OK)
		argp_failure(state, SL_EXIT_USAGE, 0, "%s", error.text);
	command->address = argument;
}

static void check(struct argp_state *state, const void *options)
{
	(void)options;
	if (state->arg_num < 2)
		argp_failure(state, SL_EXIT_USAGE, 0, "no address given; it is HOST:PORT or [IPV6]:PORT");
}

static const struct sl_usage usage = {.options = sl_group_change_options,
				      .arguments = "NAME ADDRESS",
				      .missing = "no learner given; 'starling group list' shows them",
				      .take = take,
				      .check = check,
				      .doc = SL_HELP_GROUP_ADDRESS};

static int change(struct address_command *command, struct sl_group_change *c, struct sl_error *error)
{
	int rc = sl_group_change_begin(c, command->of.given_folder, command->of.no_wait, error);
	if (rc != SL_OK)
		return rc;
	int at = sl_group_change_find(c, command->name, error);
	if (at < 0)
		return at;
	rc = sl_group_set_address(&c->own.group, (uint32_t)at, command->address, error);
	return rc == SL_OK ? sl_group_change_end(c, error) : rc;
}

static void print(const struct address_command *command, const struct sl_group_change *c)
{
	char what[SL_NAME_BYTES + SL_ADDRESS_BYTES + 32];
	json_t *object = !command->of.json ? NULL
					   : json_pack("{s:s, s:s}", "name", command->name, "address",
						       command->address);
	snprintf(what, sizeof what, "%s has the address %s", command->name, command->address);
	sl_group_change_print(c, object, "Changed:", "so that", what);
	const struct sl_roster *roster = &c->own.group.roster;
	int at = sl_roster_find_name(roster, command->name);
	sl_group_folder_warn(command->address, sl_group_folder_is_here(roster, at),
			     "starling group address %s HOST:PORT", command->name);
}

int sl_cmd_group_address(int argc, char **argv)
{
	struct address_command command = {0};
	struct sl_group_change c = {.lock = -1};
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &command);
	int rc = change(&command, &c, &error);
	if (rc == SL_OK)
		print(&command, &c);
	sl_group_change_close(&c);
	return sl_command_status(argv[0], rc, &error);
}
