/* `starling group invite`: print an invitation, or withdraw those that are open. */
#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/membership/invitation_file.h"
#include "common/membership/private_file.h"
#include "tools/lib/option.h"
#include "tools/starling/group.h"
#include "tools/starling/group_folder.h"
#include "tools/lib/help_texts.h"

#define EXPIRES_S 86400u
#define EXPIRES_S_MAX (366u * 86400u)

struct invite {
	struct sl_group_options of;
	char address[SL_ADDRESS_BYTES];
	uint64_t expires_s;
	uint32_t uses;
	bool automatic, withdraw;
	char folder[PATH_MAX];
};

static void take_expires(struct argp_state *state, const char *value, void *options)
{
	struct invite *i = options;
	struct sl_error error;
	if (sl_group_invite_duration(value, &i->expires_s, &error) != SL_OK)
		argp_failure(state, SL_EXIT_USAGE, 0, "--expires: %s", error.text);
}

static const struct sl_option own[] = {
	{"expires", 0, "DURATION", "how long it may be used: 30m, 24h, 7d (24h)", .take = take_expires},
	{"uses", 0, "N", "number of learners that may use it (1)", SL_SETS(struct invite, uses), 1,
	 SL_INVITATION_USES_MAX},
	{"auto-admit", 0, NULL, "admit each learner that uses it without a question",
	 SL_SETS(struct invite, automatic)},
	{"address", 0, "HOST:PORT", "address of this machine for the new learner (that in the roster)",
	 SL_SETS(struct invite, address), .check = sl_roster_addresses_check},
	{"withdraw", 0, NULL, "print none; withdraw all that are open", SL_SETS(struct invite, withdraw)},
	{0}};

static const struct sl_usage usage = {
	.options = own, .common = sl_group_options, .doc = SL_HELP_GROUP_INVITE};

int sl_group_invite_duration(const char *text, uint64_t *seconds, struct sl_error *error)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	char digits[16];
	size_t size = strlen(text);
	uint64_t number;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (size < 2 || size > sizeof digits || text[size - 1] != units[i].unit)
			continue;
		memcpy(digits, text, size - 1);
		digits[size - 1] = '\0';
		if (sl_number_parse(digits, 1, EXPIRES_S_MAX / units[i].seconds, &number)) {
			*seconds = number * units[i].seconds;
			return SL_OK;
		}
	}
	return sl_err_set(error, SL_ERR_INVALID,
			  "'%s' is not a duration of at most a year, such as 30m, 24h or 7d", text);
}

int sl_group_invite(const char *folder, const struct sl_group *group,
		    const uint8_t admin[static SL_KEY_BYTES], const char *address, uint64_t expires_s,
		    uint32_t uses, bool automatic, char text[static SL_INVITATION_TEXT_BYTES],
		    struct sl_error *error)
{
	struct sl_invitation invitation = {.expires = (uint32_t)((uint64_t)time(NULL) + expires_s)};
	snprintf(invitation.group, sizeof invitation.group, "%s", group->name);
	memcpy(invitation.admin, admin, sizeof invitation.admin);
	invitation.address_count = sl_roster_address_at(address, 0, invitation.addresses[0]);
	for (uint32_t i = 1; i < invitation.address_count; i++)
		sl_roster_address_at(address, i, invitation.addresses[i]);
	int rc = sl_invitation_file_create(folder, &invitation, uses, automatic, error);
	if (rc == SL_OK)
		sl_invitation_text(&invitation, text);
	sodium_memzero(&invitation, sizeof invitation);
	return rc;
}

static int withdraw(const struct invite *invite, struct sl_error *error)
{
	char path[PATH_MAX + 16], name[sizeof "invitations/" + NAME_MAX];
	int rc = SL_OK, count = 0;
	snprintf(path, sizeof path, "%s/invitations", invite->folder);
	DIR *folder = opendir(path);
	for (struct dirent *entry; rc == SL_OK && folder != NULL && (entry = readdir(folder)) != NULL;) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "invitations/%s", entry->d_name);
		rc = sl_private_file_remove(invite->folder, name, error);
		count += rc == SL_OK;
	}
	if (folder != NULL)
		closedir(folder);
	if (rc == SL_OK && invite->of.json)
		printf("{\"withdrawn\": %d}\n", count);
	else if (rc == SL_OK)
		printf("Withdrawn: %d.\n", count);
	return rc;
}

static int print_one(const struct invite *invite, struct sl_error *error)
{
	struct sl_group_own own_learner;
	char text[SL_INVITATION_TEXT_BYTES];
	int rc = sl_group_folder_open(invite->folder, &own_learner, error);
	if (rc == SL_OK)
		rc = sl_group_folder_need_admin(invite->folder, &own_learner, error);
	if (rc == SL_OK && invite->automatic && own_learner.group.required > 1)
		rc = sl_err_set(error, SL_ERR_REFUSED,
				"--auto-admit is not possible: %" PRIu32
				" admins of group %s must sign; admit each learner with starling admit",
				own_learner.group.required, own_learner.group.name);
	if (rc != SL_OK) {
		sl_group_folder_close(&own_learner);
		return rc;
	}
	const char *address = invite->address[0] != '\0' ? invite->address : own_learner.member->address;
	const struct sl_roster *roster = &own_learner.group.roster;
	rc = sl_group_invite(invite->folder, &own_learner.group, sl_admin_key_public(own_learner.admin),
			     address, invite->expires_s, invite->uses, invite->automatic, text, error);
	if (rc == SL_OK && invite->of.json)
		printf("{\"group\": \"%s\", \"invitation\": \"%s\", \"expires_s\": %" PRIu64
		       ", \"uses\": %" PRIu32 "}\n",
		       own_learner.group.name, text, invite->expires_s, invite->uses);
	else if (rc == SL_OK)
		puts(text);
	if (rc == SL_OK)
		sl_group_folder_warn(
			address, sl_group_folder_is_here(roster, (int)(own_learner.member - roster->members)),
			"starling group invite --address HOST:PORT");
	sodium_memzero(text, sizeof text);
	sl_group_folder_close(&own_learner);
	return rc;
}

int sl_cmd_group_invite(int argc, char **argv)
{
	struct invite invite = {.expires_s = EXPIRES_S, .uses = 1};
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &invite);
	int rc = sl_group_folder_find(invite.of.given_folder, invite.folder, &error);
	if (rc == SL_OK)
		rc = invite.withdraw ? withdraw(&invite, &error) : print_one(&invite, &error);
	return sl_command_status(argv[0], rc, &error);
}
