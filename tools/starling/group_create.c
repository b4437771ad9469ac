/* `starling group create`: make a group, its admin key and its first learner. */
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clean.h"
#include "common/membership/admin_key.h"
#include "daemon/net/identity.h"
#include "tools/lib/option.h"
#include "tools/starling/group.h"
#include "tools/starling/group_folder.h"
#include "tools/lib/help_texts.h"

#define START_USUAL 3u
#define EXPIRES_S 86400u

struct create {
	struct sl_group_sets sets; /* all that --set gave */
	const char *name, *given_folder;
	char learner[SL_NAME_BYTES], address[SL_ADDRESS_BYTES];
	uint32_t start, automatic;
	uint64_t expires_s;
	bool json;
	char folder[PATH_MAX];
	struct sl_group group;
	uint8_t admin[SL_KEY_BYTES];
};

static void take_expires(struct argp_state *state, const char *value, void *options)
{
	struct create *c = options;
	struct sl_error error;
	if (sl_group_invite_duration(value, &c->expires_s, &error) != SL_OK)
		argp_failure(state, SL_EXIT_USAGE, 0, "--expires: %s", error.text);
}

/* A setting that learners share goes into the roster, another one is of this machine. */
static void take_setting(struct argp_state *state, const char *value, void *options)
{
	struct create *c = options;
	struct sl_error error;
	char key[SL_NAME_BYTES];
	sl_group_folder_take_set(state, value, &c->sets);
	size_t length = strcspn(value, "=");
	snprintf(key, sizeof key, "%.*s", (int)length, value);
	if (sl_group_folder_is_shared(key) &&
	    sl_group_put(&c->group, key, length, value + length + 1, &error) != SL_OK)
		argp_failure(state, SL_EXIT_USAGE, 0, "--set %s", error.text);
}

static const struct sl_option own[] = {
	{"address", 0, "HOST:PORT",
	 "address at which the other learners reach this machine; up to four, with commas (required)",
	 SL_SETS(struct create, address), .check = sl_roster_addresses_check},
	{"members", 0, "N", "learners with which the first round begins (3)", SL_SETS(struct create, start),
	 2, SL_LEARNERS_MAX},
	{"learner", 0, "NAME", "name of the learner of this machine (its host name)",
	 SL_SETS(struct create, learner), .check = sl_roster_name_check},
	{"set", 0, "KEY=VALUE",
	 "a setting: of the round, its timeouts and the training for all learners, another one for this "
	 "machine; may be given several times",
	 .take = take_setting},
	{"auto-admit", 0, "N", "let the invitation admit N learners without a question",
	 SL_SETS(struct create, automatic), 1, SL_INVITATION_USES_MAX},
	{"expires", 0, "DURATION", "how long the invitation may be used: 30m, 24h, 7d (24h)",
	 .take = take_expires},
	{"folder", 0, "DIR",
	 "folder of the group (/var/lib/starling/NAME for root, else ~/.local/share/starling/NAME)",
	 SL_SETS(struct create, given_folder)},
	{"json", 0, NULL, "print the result as JSON", SL_SETS(struct create, json)},
	{0}};

static void check(struct argp_state *state, const void *options)
{
	const struct create *c = options;
	struct sl_error error;
	if (sl_roster_name_check(c->name, &error) != SL_OK)
		argp_failure(state, SL_EXIT_USAGE, 0, "NAME: %s", error.text);
	if (c->address[0] == '\0')
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "--address HOST:PORT is required: where the other learners reach this machine");
}

static const struct sl_usage usage = {.options = own,
				      .arguments = "NAME",
				      .missing = "no name of the group given",
				      .argument = offsetof(struct create, name),
				      .check = check,
				      .doc = SL_HELP_GROUP_CREATE};

/* ---- making it ---- */

static void name_learner(struct create *c)
{
	char host[SL_NAME_BYTES] = "";
	struct sl_error ignored;
	if (c->learner[0] != '\0')
		return;
	if (gethostname(host, sizeof host - 1) == 0)
		*strchrnul(host, '.') = '\0';
	snprintf(c->learner, sizeof c->learner, "%s",
		 sl_roster_name_check(host, &ignored) == SL_OK ? host : "learner-1");
}

/* Make folder, admin key and identity. */
static int make_keys(struct create *c, struct sl_error *error)
{
	char path[PATH_MAX + 32];
	struct sl_identity identity;
	struct sl_member member = {.id = 0};
	snprintf(path, sizeof path, "%s/" SL_GROUP_FOLDER_IDENTITY, c->folder);
	int rc = sl_group_folder_make(c->folder, error);
	if (rc == SL_OK)
		rc = sl_admin_key_create(c->folder, c->admin, error);
	if (rc == SL_ERR_BUSY)
		return sl_err_set(error, rc, "%s has a group already; choose another name or --folder",
				  c->folder);
	if (rc == SL_OK)
		rc = sl_identity_create(path, c->learner, error);
	if (rc == SL_OK)
		rc = sl_identity_load(path, &identity, error);
	if (rc != SL_OK)
		return rc;
	memcpy(member.pin, identity.pin, sizeof member.pin);
	sl_identity_close(&identity);
	memcpy(member.name, c->learner, sizeof member.name);
	memcpy(member.address, c->address, sizeof member.address);
	return sl_group_add(&c->group, &member, error);
}

static int sign(struct create *c, struct sl_error *error)
{
	uint8_t *key = sl_admin_key_load(c->folder, error);
	if (key == NULL)
		return error->code;
	memcpy(c->group.admins[0], c->admin, SL_KEY_BYTES);
	sl_group_sign(&c->group, key);
	sl_admin_key_close(key);
	return SL_OK;
}

static int make(struct create *c, char invitation[static SL_INVITATION_TEXT_BYTES], struct sl_error *error)
{
	struct sl_group *group = &c->group;
	struct sl_settings *settings = sl_command_memory(1, sizeof *settings);
	snprintf(group->name, sizeof group->name, "%s", c->name);
	group->version = group->next_id = group->required = group->admin_count = 1;
	group->start = c->start;
	int rc = sl_group_folder_new(c->given_folder, c->name, c->folder, error);
	if (rc == SL_OK)
		rc = make_keys(c, error);
	if (rc == SL_OK)
		rc = sign(c, error);
	if (rc == SL_OK)
		rc = sl_group_folder_write(c->folder, group, group->roster.members[0].id, &c->sets, error);
	if (rc == SL_OK)
		rc = sl_group_folder_check(c->folder, group, NULL, settings, error);
	free(settings);
	if (rc == SL_OK)
		rc = sl_group_invite(c->folder, group, c->admin, c->address, c->expires_s,
				     c->automatic > 0 ? c->automatic : 1, c->automatic > 0, invitation,
				     error);
	return rc;
}

static void print_json(const struct create *c, const char *invitation)
{
	json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "group", c->name, "folder", c->folder, "learner",
				   c->learner, "invitation", invitation);
	sl_command_print_json(object, 0);
}

static void print_text(const struct create *c, const char *invitation, const char *option)
{
	char command[PATH_MAX + 64];
	sl_group_folder_start(c->folder, command, sizeof command);
	printf("%s\n", invitation);
	fprintf(stderr,
		"Group %s has its first learner, %s. Rounds begin with %u learners. Start it:\n"
		"  %s\n",
		c->name, c->learner, c->group.start, command);
	fprintf(stderr,
		"On another machine, give this command the invitation%s; it holds a secret:\n"
		"  starling join -\n",
		isatty(STDOUT_FILENO) ? ", the line above" : "");
	if (c->automatic == 0)
		fprintf(stderr, "Then here: starling admit NAME%s\n", option);
	fprintf(stderr, "A further invitation: starling group invite%s\n", option);
}

static void print(const struct create *c, const char *invitation)
{
	char option[PATH_MAX + 16] = "", word[PATH_MAX];
	sl_clean_shell_word(c->folder, word, sizeof word);
	if (c->given_folder != NULL)
		snprintf(option, sizeof option, " --folder %s", word);
	if (c->json)
		print_json(c, invitation);
	else
		print_text(c, invitation, option);
	sl_group_folder_warn(c->address, false, /* the invitation has the address, too */
			     "starling group address %s HOST:PORT%s, then give a new invitation: starling "
			     "group invite%s",
			     c->learner, option, option);
}

/* Remove what a failed command has made, if it has made the folder's admin key. */
static void undo(const struct create *c, int rc)
{
	static const char *const files[] = {SL_ADMIN_KEY_FILE,
					    SL_GROUP_FOLDER_CONFIG,
					    SL_GROUP_FOLDER_ROSTER,
					    "identity/key.pem",
					    "identity/cert.pem",
					    "identity",
					    ""};
	char path[PATH_MAX + 32];
	for (size_t i = 0; rc != SL_ERR_BUSY && c->folder[0] != '\0' && i < sizeof files / sizeof *files;
	     i++) {
		snprintf(path, sizeof path, "%s/%s", c->folder, files[i]);
		remove(path); /* what is not there, and a folder that is not empty, stay as they are */
	}
}

int sl_cmd_group_create(int argc, char **argv)
{
	static struct create c = {.start = START_USUAL, .expires_s = EXPIRES_S}; /* large */
	char invitation[SL_INVITATION_TEXT_BYTES];
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &c);
	name_learner(&c);
	int rc = make(&c, invitation, &error);
	if (rc == SL_OK)
		print(&c, invitation);
	else
		undo(&c, rc);
	sodium_memzero(invitation, sizeof invitation);
	sl_group_close(&c.group);
	return sl_command_status(argv[0], rc == SL_ERR_BUSY ? SL_ERR_REFUSED : rc, &error);
}
