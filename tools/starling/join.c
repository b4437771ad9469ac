/* `starling join`: become a learner of a group, with an invitation. */
#include <inttypes.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clean.h"
#include "common/membership/invitation.h"
#include "daemon/net/listen.h"
#include "daemon/runtime/address.h"
#include "tools/lib/option.h"
#include "tools/starling/group_folder.h"
#include "tools/starling/join_ask.h"
#include "tools/lib/help_texts.h"

#define PORT "7400"
#define QUIET_S 1u /* in which an invitation with --auto-admit may be enough */

struct join {
	struct sl_group_sets sets;   /* first */
	struct sl_settings settings; /* by `sets` */
	const char *text;	     /* the invitation */
	char name[SL_NAME_BYTES], address[SL_ADDRESS_BYTES];
	const char *given_folder;
	uint64_t timeout_s; /* 0: none */
	bool json;
	bool here; /* the machine of the invitation is this one */
	char folder[PATH_MAX], identity_folder[PATH_MAX];
	struct sl_invitation invitation;
	struct sl_identity identity;
	struct sl_join_ask ask;
};

/* Take a setting of this machine. Those of all learners come with the roster. */
static void take_setting(struct argp_state *state, const char *value, void *options)
{
	char key[SL_NAME_BYTES];
	sl_group_folder_take_set(state, value, options);
	snprintf(key, sizeof key, "%.*s", (int)strcspn(value, "="), value);
	if (sl_group_folder_is_shared(key))
		argp_failure(
			state, SL_EXIT_USAGE, 0,
			"--set: '%s' is a setting of all learners: the admin gives it to 'starling group "
			"create'",
			key);
}

static const struct sl_option own[] = {
	{"name", 0, "NAME", "name of this learner (the name of this machine)", SL_SETS(struct join, name),
	 .check = sl_roster_name_check},
	{"address", 0, "HOST:PORT",
	 "address at which the other learners reach it; up to four, with commas (that of the connection, "
	 "port " PORT ")",
	 SL_SETS(struct join, address), .check = sl_roster_addresses_check},
	{"folder", 0, "DIR", "folder of the group on this machine", SL_SETS(struct join, given_folder)},
	{"timeout", 0, "SECONDS", "end with status 1 if the admin has not admitted it by then",
	 SL_SETS(struct join, timeout_s), 1, UINT32_MAX},
	{"set", 's', "KEY=VALUE", "a setting of this machine, such as data=DIR; may be repeated",
	 .take = take_setting},
	{"json", 0, NULL, "print the result as JSON", SL_SETS(struct join, json)},
	{0}};

static const struct sl_usage usage = {
	.options = own,
	.arguments = "INVITATION",
	.missing = "give the invitation: the line that 'starling group create' or 'starling group invite' "
		   "printed",
	.argument = offsetof(struct join, text),
	.doc = SL_HELP_JOIN};

/* ---- what is needed before the first question ---- */

static int read_invitation(struct join *j, struct sl_error *error)
{
	char line[SL_INVITATION_TEXT_BYTES] = "";
	if (strcmp(j->text, "-") != 0)
		return sl_invitation_parse(j->text, &j->invitation, error);
	if (isatty(STDIN_FILENO))
		fputs("Paste the invitation, and press Enter:\n", stderr);
	if (fgets(line, sizeof line, stdin) == NULL)
		return sl_err_set(error, SL_ERR_INVALID, "there is no invitation on standard input");
	int rc = sl_invitation_parse(line, &j->invitation, error);
	sodium_memzero(line, sizeof line);
	return rc;
}

/* Take the name of this machine, without its domain. */
static int set_name(struct join *j, struct sl_error *error)
{
	if (j->name[0] != '\0')
		return SL_OK;
	if (gethostname(j->name, sizeof j->name) != 0)
		j->name[0] = '\0';
	j->name[sizeof j->name - 1] = '\0';
	j->name[strcspn(j->name, ".")] = '\0';
	if (sl_roster_name_check(j->name, error) != SL_OK)
		return sl_err_set(
			error, SL_ERR_INVALID,
			"this machine has no name that a learner could have; give one with --name NAME");
	return SL_OK;
}

/* Load the key of this machine, or make it. */
static int open_identity(struct join *j, struct sl_error *error)
{
	int n = snprintf(j->identity_folder, sizeof j->identity_folder, "%s/identity", j->folder);
	if (n < 0 || (size_t)n + 32 > sizeof j->identity_folder)
		return sl_err_set(error, SL_ERR_RANGE, "--folder: the path is too long");
	int rc = sl_identity_load(j->identity_folder, &j->identity, error);
	if (rc != SL_ERR_NOTFOUND && rc != SL_ERR_INVALID)
		return rc;
	rc = sl_group_folder_make(j->folder, error);
	if (rc == SL_OK)
		rc = sl_identity_create(j->identity_folder, j->name, error);
	return rc == SL_OK ? sl_identity_load(j->identity_folder, &j->identity, error) : rc;
}

/* Refuse a folder of a group that this machine has joined. */
static int check_folder(const struct join *j, struct sl_error *error)
{
	char path[PATH_MAX + 16], start[PATH_MAX + 64], word[PATH_MAX];
	snprintf(path, sizeof path, "%s/starlingd.yaml", j->folder);
	if (access(path, F_OK) != 0)
		return SL_OK;
	sl_clean_shell_word(j->folder, word, sizeof word);
	sl_group_folder_start(j->folder, start, sizeof start);
	return sl_err_set(error, SL_ERR_REFUSED,
			  "this machine has joined, as %s exists; start its learner: %s; if it was "
			  "removed and is to join again, move %s elsewhere before",
			  path, start, word);
}

/* Return a setting with the absolute path of its file, if that is there: it is relative to the working folder
 * here, and to that of the group in starlingd.yaml. */
static const char *make_absolute(const char *item)
{
	const char *value = strchr(item, '=') + 1;
	char *path = *value != '/' ? realpath(value, NULL) : NULL, *text = NULL;
	if (path != NULL && asprintf(&text, "%.*s%s", (int)(value - item), item, path) < 0)
		text = NULL;
	free(path);
	return text != NULL ? text : item;
}

/* Read the settings of this machine that matter here: where it listens, and its proxy. Others may be good
 * only together with those of the roster. */
static int take_sets(struct join *j, struct sl_error *error)
{
	enum { CREDENTIALS };
	static const char *const matter[] = {[CREDENTIALS] = "proxy_credentials_file=", "proxy=", "listen="};
	struct sl_settings *s = &j->settings;
	const char **items = sl_command_memory(j->sets.count + 1, sizeof *items);
	size_t count = 0;
	for (size_t i = 0; i < j->sets.count; i++) {
		const char **item = &j->sets.items[i];
		for (size_t k = 0; k < sizeof matter / sizeof *matter; k++)
			if (strncmp(*item, matter[k], strlen(matter[k])) == 0)
				items[count++] = *item = k == CREDENTIALS ? make_absolute(*item) : *item;
	}
	int rc = sl_settings_assign(items, count, s, error);
	free(items);
	return rc == SL_OK ? sl_proxy_set(&j->ask.proxy, s->proxy, s->proxy_credentials_file, error) : rc;
}

/* Refuse to take the address of a connection to a proxy of this machine for one at which others reach it. */
static int check_way(const struct join *j, struct sl_error *error)
{
	char one[SL_ADDRESS_BYTES];
	bool served = false;
	for (uint32_t i = 0; i < j->invitation.address_count; i++) {
		sl_roster_address_at(j->invitation.addresses[i], 0, one);
		served = served || sl_proxy_serves(&j->ask.proxy, one);
	}
	return !served || j->address[0] != '\0' || !sl_address_is_here(j->ask.proxy.address)
		       ? SL_OK
		       : sl_err_set(
				 error, SL_ERR_INVALID,
				 "the proxy %s is on this machine, so that the connection does not tell at "
				 "which address others reach it; give that with --address HOST:PORT",
				 j->ask.proxy.address);
}

/* Refuse a port that another program of this machine has, at the addresses of this learner. */
static int check_port(const struct join *j, struct sl_error *error)
{
	char address[SL_ADDRESS_BYTES];
	sl_listen_choose(j->settings.listen, j->address[0] != '\0' ? j->address : "0.0.0.0:" PORT, false,
			 address);
	return !sl_listen_in_use(address)
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_BUSY,
				    "port %s of this machine is in use by another program; choose another "
				    "one with --address HOST:PORT",
				    strrchr(address, ':') + 1);
}

/* ---- asking until it is admitted ---- */

static void prove(void *context, const struct sl_join_client *client, struct sl_join_request *request)
{
	struct join *j = context;
	sl_invitation_prove(j->invitation.id, j->invitation.secret, client->exported, j->identity.pin,
			    request->proof);
	bool v6 = strchr(client->local, ':') != NULL;
	char local[SL_ADDRESS_BYTES]; /* of the connection */
	snprintf(local, sizeof local, "%s%.100s%s:" PORT, v6 ? "[" : "", client->local, v6 ? "]" : "");
	j->here = sl_address_is_here(local) && !sl_proxy_serves(&j->ask.proxy, j->ask.from);
	if (j->address[0] == '\0')
		memcpy(j->address, local, sizeof local);
	memcpy(request->address, j->address, sizeof request->address);
}

static void begin(struct join *j, struct sl_join_request *request)
{
	*request = (struct sl_join_request){.kind = SL_JOIN_ASK};
	memcpy(request->invitation, j->invitation.id, sizeof request->invitation);
	memcpy(request->name, j->name, sizeof request->name);
	j->ask.group = j->invitation.group;
	j->ask.admin = j->invitation.admin;
	j->ask.address_count = j->invitation.address_count;
	for (uint32_t i = 0; i < j->invitation.address_count; i++)
		j->ask.addresses[i] = j->invitation.addresses[i];
	j->ask.identity = &j->identity;
	j->ask.prove = prove;
	j->ask.context = j;
}

static void say_waiting(const void *context)
{
	const struct join *j = context;
	char pin[SL_PIN_TEXT_BYTES];
	sl_roster_pin_text(j->identity.pin, pin);
	fprintf(stderr,
		"Waiting for the admin of %s to run: starling admit %s\n"
		"  on the machine of the invitation, %s; name %s, address %s, key %s\n",
		j->invitation.group, j->name, j->ask.from, j->name, j->address, pin);
	sl_group_folder_warn(j->address, j->here, "run this command again with another --address");
}

static int ask_once(void *context, struct sl_join_request *request, enum sl_join_verdict *verdict,
		    struct sl_error *error)
{
	struct join *j = context;
	return sl_join_ask(&j->ask, request, verdict, error);
}

static int set_late(const void *context, bool reached, uint64_t waited_s, struct sl_error *error)
{
	const struct join *j = context;
	char why[256];
	(void)waited_s;
	snprintf(why, sizeof why, "%.255s", error->text);
	if (!reached)
		return sl_err_set(error, SL_ERR_IO, "%s: the inviting machine cannot be reached%s", why,
				  j->ask.by_proxy ? ""
						  : "; does starlingd run there, and do firewalls let the "
						    "port through?");
	return sl_err_set(error, SL_ERR_IO,
			  "not admitted within %" PRIu64
			  " s; run this command again after the admin has run starling admit %s",
			  j->timeout_s, j->name);
}

/* Ask until the roster has the key of this machine. */
static int ask(struct join *j, struct sl_error *error)
{
	const struct sl_join_wait wait = {j->identity.pin, j->timeout_s, QUIET_S,
					  ask_once,	   say_waiting,	 set_late};
	struct sl_join_request request;
	begin(j, &request);
	return sl_join_ask_wait(&j->ask, &wait, &request, error);
}

/* ---- the folder of the new learner ---- */

static void print_result(const struct join *j, const struct sl_member *member)
{
	if (j->json) {
		json_t *object = json_pack("{s:s, s:I, s:s, s:s, s:s, s:s}", "group", j->invitation.group,
					   "id", (json_int_t)member->id, "name", member->name, "address",
					   member->address, "folder", j->folder, "config", "starlingd.yaml");
		sl_command_print_json(object, 0);
		return;
	}
	char command[PATH_MAX + 64];
	sl_group_folder_start(j->folder, command, sizeof command);
	printf("Admitted: %s is learner %" PRIu32 " of %s. Start it with:\n  %s\n", member->name, member->id,
	       j->invitation.group, command);
}

static int join(struct join *j, struct sl_error *error)
{
	int rc = read_invitation(j, error);
	if (rc == SL_OK)
		rc = sl_group_folder_new(j->given_folder, j->invitation.group, j->folder, error);
	if (rc == SL_OK)
		rc = check_folder(j, error);
	if (rc == SL_OK)
		rc = set_name(j, error);
	if (rc == SL_OK)
		rc = take_sets(j, error);
	if (rc == SL_OK)
		rc = check_way(j, error);
	if (rc == SL_OK)
		rc = check_port(j, error);
	if (rc == SL_OK)
		rc = open_identity(j, error);
	if (rc == SL_OK)
		rc = ask(j, error);
	if (rc != SL_OK)
		return rc;
	const struct sl_member *member = sl_join_ask_member(&j->ask, j->identity.pin);
	rc = sl_group_folder_write(j->folder, &j->ask.roster, member->id, &j->sets, error);
	if (rc != SL_OK)
		return rc;
	print_result(j, member);
	sl_group_folder_warn(j->address, j->here,
			     "on the machine of the invitation: starling group address %s HOST:PORT",
			     member->name);
	return rc;
}

int sl_cmd_join(int argc, char **argv)
{
	static struct join j;
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &j);
	int rc = join(&j, &error);
	sl_join_ask_close(&j.ask);
	sl_identity_close(&j.identity);
	sodium_memzero(&j.invitation, sizeof j.invitation);
	return sl_command_status(argv[0], rc, &error);
}
