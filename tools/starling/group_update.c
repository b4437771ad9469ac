/* `starling group update`: get the newest roster for a learner that was away for so long that it has no
 * links. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/net/identity.h"
#include "daemon/runtime/clock.h"
#include "tools/lib/option.h"
#include "tools/starling/group.h"
#include "tools/starling/group_change.h"
#include "tools/starling/join_ask.h"
#include "tools/lib/help_texts.h"

#define RESTART_S 10 /* until a member that starts again should answer */

struct update {
	struct sl_group_options of;
	char address[SL_ADDRESS_BYTES]; /* "": the members in turn */
	char folder[PATH_MAX];
	struct sl_group_own own;
	struct sl_identity identity;
	struct sl_join_ask ask;
};

static const struct sl_option own_options[] = {
	{"address", 0, "HOST:PORT", "address of a member (each one of the roster is asked)",
	 SL_SETS(struct update, address), .check = sl_roster_addresses_check},
	{0}};

static const struct sl_usage usage = {
	.options = own_options, .common = sl_group_options, .doc = SL_HELP_GROUP_UPDATE};

static void prove(void *context, const struct sl_join_client *client, struct sl_join_request *request)
{
	(void)context; /* the key of the connection is the proof */
	(void)client;
	(void)request;
}

static int ask_one(struct update *u, const char *address, struct sl_error *error)
{
	struct sl_join_request request = {.kind = SL_JOIN_ROSTER};
	enum sl_join_verdict verdict = SL_JOIN_LATER;
	u->ask.addresses[0] = address;
	int rc = sl_join_ask(&u->ask, &request, &verdict, error);
	if (rc != SL_OK || verdict == SL_JOIN_ADMITTED)
		return rc;
	return sl_join_ask_refused(&u->ask, verdict, &request, error);
}

/* Ask all members, and keep the newest roster. One answer is enough. */
static int ask_all(struct update *u, struct sl_error *error)
{
	const struct sl_roster *roster = &u->own.group.roster;
	int rc = sl_err_set(error, SL_ERR_BUSY,
			    "there is no other member to ask; name one with --address HOST:PORT");
	bool answered = false;
	if (u->address[0] != '\0')
		return ask_one(u, u->address, error);
	for (uint32_t i = 0; i < roster->size; i++)
		if (roster->members[i].id != u->own.member->id) {
			rc = ask_one(u, roster->members[i].address, error);
			answered |= rc == SL_OK;
		}
	return answered ? SL_OK : rc;
}

/* Ask until one answers, but not for long: a member that takes a newer roster starts again meanwhile. */
static int ask(struct update *u, struct sl_error *error)
{
	uint64_t begin = sl_clock_ms();
	int rc = ask_all(u, error);
	if (rc != SL_ERR_BUSY || (u->own.group.roster.size == 1 && u->address[0] == '\0'))
		return rc;
	fprintf(stderr,
		"starling group update: %s; trying again for %d s, as a member that takes a roster starts "
		"again\n",
		error->text, RESTART_S);
	while (rc == SL_ERR_BUSY && sl_clock_ms() - begin < RESTART_S * 1000) {
		sl_join_ask_pause(&u->ask);
		rc = ask_all(u, error);
	}
	return rc;
}

static int update(struct update *u, struct sl_error *error)
{
	int rc = sl_group_folder_find(u->of.given_folder, u->folder, error);
	if (rc == SL_OK)
		rc = sl_group_folder_open(u->folder, &u->own, error);
	if (rc == SL_OK)
		rc = sl_identity_load_pinned(u->own.settings.identity, u->own.member->pin, &u->identity,
					     error);
	if (rc == SL_OK)
		rc = sl_proxy_set(&u->ask.proxy, u->own.settings.proxy,
				  u->own.settings.proxy_credentials_file, error);
	if (rc == SL_OK)
		rc = sl_group_load(u->own.settings.roster, &u->ask.roster, error);
	u->ask.has_roster = rc == SL_OK;
	u->ask.group = u->own.group.name;
	u->ask.identity = &u->identity;
	u->ask.address_count = 1;
	u->ask.prove = prove;
	if (rc == SL_OK)
		rc = ask(u, error);
	if (rc == SL_OK && u->ask.roster.version > u->own.group.version)
		rc = sl_group_change_take(u->folder, &u->ask.roster, error);
	return rc;
}

int sl_cmd_group_update(int argc, char **argv)
{
	static struct update u;
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &u);
	int rc = update(&u, &error);
	if (rc == SL_OK)
		printf(u.of.json ? "{\"group\": \"%s\", \"version\": %" PRIu64 ", \"newer\": %s}\n"
				 : "Group %s: version %" PRIu64 " of the roster%s.\n",
		       u.own.group.name, u.ask.roster.version,
		       u.ask.roster.version > u.own.group.version ? (u.of.json ? "true" : ", which is newer")
								  : (u.of.json ? "false" : ""));
	sl_join_ask_close(&u.ask);
	sl_identity_close(&u.identity);
	sl_group_folder_close(&u.own);
	return sl_command_status(argv[0], rc, &error);
}
