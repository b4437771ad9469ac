/* `starling group rotate`: give the learner of this machine another key. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/membership/admit.h"
#include "daemon/membership/renewal.h"
#include "tools/lib/option.h"
#include "tools/starling/group.h"
#include "tools/starling/group_change.h"
#include "tools/starling/group_folder.h"
#include "tools/starling/join_ask.h"
#include "tools/lib/help_texts.h"

struct rotate {
	struct sl_group_options of;
	char address[SL_ADDRESS_BYTES]; /* of the admin's machine; "": the members in turn */
	uint64_t timeout_s;
	char folder[PATH_MAX];
	struct sl_group_own own;
	struct sl_identity present, next;
	struct sl_join_ask ask;
};

static const struct sl_option own_options[] = {
	{"address", 0, "HOST:PORT", "address of the machine with the admin key (each member is asked)",
	 SL_SETS(struct rotate, address), .check = sl_roster_addresses_check},
	{"timeout", 0, "SECONDS", "end with status 1 if the new key is not admitted by then",
	 SL_SETS(struct rotate, timeout_s), 1, UINT32_MAX},
	{"no-wait", 0, NULL,
	 "on the admin's machine: if a round must commit first, end with status 1 instead of waiting",
	 SL_SETS(struct rotate, of.no_wait)},
	{0}};

static const struct sl_usage usage = {
	.options = own_options, .common = sl_group_options, .doc = SL_HELP_GROUP_ROTATE};

/* Load both keys; make the next one if there is none. */
static int open_keys(struct rotate *r, struct sl_error *error)
{
	char next[PATH_MAX + 16];
	int rc = sl_identity_load_pinned(r->own.settings.identity, r->own.member->pin, &r->present, error);
	if (rc == SL_OK && memcmp(r->present.pin, r->own.member->pin, SL_HASH_BYTES) != 0)
		rc = sl_err_set(
			error, SL_ERR_CRYPTO,
			"%s: this key is not the one that the roster of this machine has for this learner",
			r->own.settings.identity);
	if (rc != SL_OK)
		return rc;
	if (r->present.next)
		return sl_err_set(
			error, SL_ERR_REFUSED,
			"the last rotation is not complete: run this command again after the next round has "
			"committed");
	snprintf(next, sizeof next, "%s" SL_IDENTITY_NEXT, r->own.settings.identity);
	rc = sl_identity_load(next, &r->next, error);
	if (rc != SL_ERR_NOTFOUND && rc != SL_ERR_INVALID)
		return rc;
	rc = sl_identity_create(next, r->own.member->name, error);
	if (rc == SL_OK)
		rc = sl_group_folder_give(next, r->folder, error);
	return rc == SL_OK ? sl_identity_load(next, &r->next, error) : rc;
}

static void print(const struct rotate *r, const struct sl_group_change *change)
{
	char pin[SL_PIN_TEXT_BYTES];
	sl_roster_pin_text(r->next.pin, pin);
	if (r->of.json) {
		json_t *object = json_pack("{s:s, s:s}", "name", r->own.member->name, "key", pin);
		if (change != NULL)
			sl_group_change_json(change, object);
		sl_command_print_json(object, 0);
	} else if (change != NULL && change->missing > 0) {
		sl_group_change_print(change, NULL, NULL, "to take the key", pin);
	} else {
		printf("Rotated: %s has the key %s, and uses it after the present round.\n",
		       r->own.member->name, pin);
	}
}

/* Sign the change with the admin key of this machine. */
static int change_here(struct rotate *r, struct sl_error *error)
{
	struct sl_group_change change;
	struct sl_waiting waiting = {.renews = r->own.member->id};
	memcpy(waiting.pin, r->next.pin, sizeof waiting.pin);
	int rc = sl_group_change_begin(&change, r->folder, r->of.no_wait, error);
	if (rc == SL_OK)
		rc = sl_admit(&change.own.group, &waiting, error);
	if (rc == SL_OK)
		rc = sl_group_change_end(&change, error);
	if (rc == SL_OK)
		print(r, &change);
	sl_group_change_close(&change);
	return rc;
}

static void prove(void *context, const struct sl_join_client *client, struct sl_join_request *request)
{
	struct rotate *r = context;
	sl_renewal_sign(&r->next, client->exported, r->present.pin, request->proof);
}

/* Ask the admin's machine: --address, or the members in turn until one has the admin key. Keep its address in
 * `r`. SL_ERR_BUSY: no member that answers has the admin key, and one does not answer: it may be the admin's,
 * which may be restarting. */
static int ask_members(struct rotate *r, struct sl_join_request *request, enum sl_join_verdict *verdict,
		       struct sl_error *error)
{
	const struct sl_roster *roster = &r->own.group.roster;
	int rc = SL_ERR_BUSY;
	bool silent = false;
	if (r->address[0] != '\0') {
		r->ask.addresses[0] = r->address;
		return sl_join_ask(&r->ask, request, verdict, error);
	}
	for (uint32_t i = 0; i < roster->size; i++) {
		if (roster->members[i].id == r->own.member->id)
			continue;
		r->ask.addresses[0] = roster->members[i].address;
		int one = sl_join_ask(&r->ask, request, verdict, error);
		if (one == SL_OK && *verdict != SL_JOIN_ELSEWHERE) {
			snprintf(r->address, sizeof r->address, "%s", roster->members[i].address);
			return one;
		}
		silent |= one == SL_ERR_BUSY;
		rc = one == SL_OK ? SL_OK : rc;
	}
	return silent && rc == SL_OK ? SL_ERR_BUSY : rc;
}

static int ask_once(void *context, struct sl_join_request *request, enum sl_join_verdict *verdict,
		    struct sl_error *error)
{
	struct rotate *r = context;
	int rc = ask_members(r, request, verdict, error);
	bool admitted = sl_join_ask_member(&r->ask, r->next.pin) != NULL;
	if (rc == SL_OK && !admitted && *verdict == SL_JOIN_ELSEWHERE)
		return sl_err_set(error, SL_ERR_REFUSED,
				  "no machine that answers has the admin key; name it with --address "
				  "HOST:PORT");
	return rc;
}

static void say_waiting(const void *context)
{
	const struct rotate *r = context;
	char pin[SL_PIN_TEXT_BYTES];
	sl_roster_pin_text(r->next.pin, pin);
	fprintf(stderr, "Waiting for the admin of %s to run: starling admit %s\n  new key %s\n",
		r->own.group.name, r->own.member->name, pin);
}

static int set_late(const void *context, bool reached, uint64_t waited_s, struct sl_error *error)
{
	(void)context;
	return sl_err_set(
		error, SL_ERR_IO, "%s within %" PRIu64 " s; the request stands: run this command again",
		reached ? "the new key is not admitted" : "the admin's machine does not answer", waited_s);
}

static int ask(struct rotate *r, struct sl_error *error)
{
	const struct sl_join_wait wait = {r->next.pin, r->timeout_s, 0, ask_once, say_waiting, set_late};
	struct sl_join_request request = {.kind = SL_JOIN_RENEW};
	memcpy(request.key, r->next.public_key, sizeof request.key);
	r->ask.group = r->own.group.name;
	r->ask.identity = &r->present;
	r->ask.address_count = 1;
	r->ask.prove = prove;
	r->ask.context = r;
	return sl_join_ask_wait(&r->ask, &wait, &request, error);
}

/* Rotate the key. Write the roster in case the learner of this machine does not run: a running one gets it
 * over its links. */
static int rotate(struct rotate *r, struct sl_error *error)
{
	int rc = sl_group_folder_find(r->of.given_folder, r->folder, error);
	if (rc == SL_OK)
		rc = sl_group_folder_open(r->folder, &r->own, error);
	if (rc == SL_OK && r->of.no_wait && r->own.admin == NULL)
		rc = sl_err_set(error, SL_ERR_INVALID,
				"--no-wait is for the machine with the admin key; to limit the wait for the "
				"admin, give --timeout SECONDS");
	if (rc == SL_OK)
		rc = open_keys(r, error);
	if (rc == SL_OK)
		rc = sl_proxy_set(&r->ask.proxy, r->own.settings.proxy,
				  r->own.settings.proxy_credentials_file, error);
	if (rc != SL_OK)
		return rc;
	if (sl_group_folder_is_admin(&r->own))
		return change_here(r, error);
	rc = ask(r, error);
	if (rc == SL_OK)
		rc = sl_group_change_take(r->folder, &r->ask.roster, error);
	if (rc == SL_OK)
		print(r, NULL);
	return rc;
}

int sl_cmd_group_rotate(int argc, char **argv)
{
	static struct rotate r;
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &r);
	int rc = rotate(&r, &error);
	sl_join_ask_close(&r.ask);
	sl_identity_close(&r.present);
	sl_identity_close(&r.next);
	sl_group_folder_close(&r.own);
	return sl_command_status(argv[0], rc, &error);
}
