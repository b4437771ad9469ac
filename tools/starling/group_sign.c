/* `starling group sign`: show what a proposal of another admin changes, and sign it. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/membership/admit.h"
#include "common/membership/proposal.h"
#include "daemon/runtime/streams.h"
#include "tools/lib/option.h"
#include "tools/starling/group.h"
#include "tools/starling/group_change.h"
#include "tools/lib/help_texts.h"

struct sign {
	struct sl_group_options of;
	const char *file;
	bool yes;
};

static const struct sl_option own[] = {
	{"yes", 'y', NULL, "sign without a question", SL_SETS(struct sign, yes)}, {0}};

static const struct sl_usage usage = {.options = own,
				      .common = sl_group_change_options,
				      .arguments = "FILE",
				      .missing = "name the proposal: the file that another admin has sent",
				      .argument = offsetof(struct sign, file),
				      .doc = SL_HELP_GROUP_SIGN};

/* Return true if the user agrees. */
static bool agrees(const struct sign *s)
{
	char line[16];
	if (s->yes)
		return true;
	if (!isatty(STDIN_FILENO))
		return false;
	fputs("Sign it with the admin key of this machine? [y/N] ", stderr);
	return fgets(line, sizeof line, stdin) != NULL && (line[0] == 'y' || line[0] == 'Y');
}

static void show(const struct sign *s, const struct sl_group *proposal, const char *changes)
{
	if (s->of.json)
		return;
	printf("Version %" PRIu64 " of the roster of %s:\n", proposal->version, proposal->name);
	for (const char *at = changes; *at != '\0';) {
		int size = (int)strcspn(at, "\n");
		printf("  %.*s\n", size, at);
		at += size + (at[size] == '\n');
	}
	if (*changes == '\0')
		puts("  nothing but the version");
	sl_streams_flush(stdout);
}

static void print(const struct sign *s, const struct sl_group_change *change, const char *changes)
{
	json_t *object =
		!s->of.json ? NULL : json_pack("{s:s, s:s}", "group", change->now.name, "changes", changes);
	sl_group_change_print(change, object, "Signed; it is", "but it is not", "in force");
}

/* Add the signature. An admin that has signed already may still add those of others. */
static int add_signature(struct sl_group_change *change, struct sl_group *proposal, struct sl_error *error)
{
	const uint8_t *admin = sl_admin_key_public(change->own.admin);
	uint32_t had;
	if (sl_group_find_admin(&change->now, admin) < 0 && sl_group_find_admin(proposal, admin) < 0)
		return sl_err_set(error, SL_ERR_REFUSED,
				  "the admin key of this machine does not belong to an admin of group %s; an "
				  "admin can add it: starling group admins",
				  change->now.name);
	int rc = sl_proposal_merge(change->folder, proposal, &had, error);
	if (rc != SL_OK)
		return rc;
	if (!sl_group_has_signed(proposal, admin) && proposal->signature_count == SL_ADMINS_MAX)
		return sl_err_set(error, SL_ERR_FULL, "it has %u signatures, and no more are possible",
				  SL_ADMINS_MAX);
	if (!sl_group_has_signed(proposal, admin))
		sl_group_sign_too(proposal, change->own.admin);
	else if (proposal->signature_count == had && sl_group_missing(&change->now, proposal) > 0)
		return sl_err_set(error, SL_ERR_REFUSED,
				  "this admin has signed it already, and %" PRIu32
				  " more must: send it to another admin",
				  sl_group_missing(&change->now, proposal));
	return SL_OK;
}

static int sign(const struct sign *s, struct sl_group_change *change, struct sl_group *proposal,
		struct sl_error *error)
{
	char *changes = sl_proposal_changes(&change->now, proposal);
	if (changes == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	int rc = add_signature(change, proposal, error);
	if (rc == SL_OK)
		rc = sl_group_change_check(change, proposal, error); /* before a question, and a wait */
	if (rc == SL_OK)
		show(s, proposal, changes);
	if (rc == SL_OK && !agrees(s))
		rc = sl_err_set(error, SL_ERR_REFUSED, "nothing is signed%s",
				isatty(STDIN_FILENO) ? "" : "; to sign it without a question, give --yes");
	if (rc == SL_OK && sl_roster_changes(&change->now.roster, &proposal->roster) > 0)
		rc = sl_group_change_await(change, error);
	if (rc == SL_OK)
		rc = sl_group_change_give(change, proposal, error);
	if (rc == SL_OK && change->missing == 0)
		rc = sl_admit_forget(change->folder, &proposal->roster, error);
	if (rc == SL_OK)
		print(s, change, changes);
	free(changes);
	return rc;
}

/* Read the folder. Its admin key need not belong to an admin of the group. */
static int open_change(struct sl_group_change *change, const struct sign *s, struct sl_error *error)
{
	int rc = sl_group_change_read(change, s->of.given_folder, s->of.no_wait, error);
	if (rc == SL_OK)
		rc = sl_group_folder_need_signed(&change->own, error);
	if (rc == SL_OK && change->own.admin == NULL)
		rc = sl_err_set(error, SL_ERR_REFUSED,
				"%s has no admin key: make one with starling group admins --key, and have it "
				"added",
				change->folder);
	return rc;
}

int sl_cmd_group_sign(int argc, char **argv)
{
	struct sign s = {0};
	struct sl_group_change change = {.lock = -1};
	struct sl_group proposal = {.version = 0};
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &s);
	int rc = open_change(&change, &s, &error);
	if (rc == SL_OK)
		rc = sl_proposal_load(s.file, &change.now, &proposal, &error);
	if (rc == SL_OK)
		rc = sign(&s, &change, &proposal, &error);
	sl_group_close(&proposal);
	sl_group_change_close(&change);
	return sl_command_status(argv[0], rc, &error);
}
