/* `starling group admins`: show the admins of a group, make the key of another one, change them. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/membership/admin_key.h"
#include "tools/lib/option.h"
#include "tools/starling/group.h"
#include "tools/starling/group_change.h"
#include "tools/lib/help_texts.h"

struct admins {
	struct sl_group_options of;
	bool key;
	uint32_t required; /* 0: not given */
	uint32_t added, removed;
	uint8_t add[SL_ADMINS_MAX][SL_KEY_BYTES], remove[SL_ADMINS_MAX][SL_KEY_BYTES];
	char folder[PATH_MAX];
};

static void take_key(struct argp_state *state, const char *option, const char *value,
		     uint8_t keys[SL_ADMINS_MAX][SL_KEY_BYTES], uint32_t *count)
{
	struct sl_error error;
	if (*count == SL_ADMINS_MAX)
		argp_failure(state, SL_EXIT_USAGE, 0, "more than %u %s", SL_ADMINS_MAX, option);
	if (sl_admin_key_parse(value, keys[*count], &error) != SL_OK)
		argp_failure(state, SL_EXIT_USAGE, 0, "%s: %s", option, error.text);
	++*count;
}

static void take_add(struct argp_state *state, const char *value, void *options)
{
	struct admins *a = options;
	take_key(state, "--add", value, a->add, &a->added);
}

static void take_remove(struct argp_state *state, const char *value, void *options)
{
	struct admins *a = options;
	take_key(state, "--remove", value, a->remove, &a->removed);
}

static const struct sl_option own[] = {
	{"key", 0, NULL, "print the public admin key of this machine, made if there is none",
	 SL_SETS(struct admins, key)},
	{"add", 0, "KEY", "add the admin with this public key; may be repeated", .take = take_add},
	{"remove", 0, "KEY", "remove the admin with this public key; may be repeated", .take = take_remove},
	{"required", 0, "K", "admins that must sign a change: more than half of them",
	 SL_SETS(struct admins, required), 1, SL_ADMINS_MAX},
	{0}};

static bool changes(const struct admins *a)
{
	return a->required > 0 || a->added > 0 || a->removed > 0;
}

static void check(struct argp_state *state, const void *options)
{
	const struct admins *a = options;
	if (a->key && changes(a))
		argp_failure(
			state, SL_EXIT_USAGE, 0,
			"give --key on the machine of the new admin; --add, --remove and --required on the "
			"machine of a present admin");
}

static const struct sl_usage usage = {
	.options = own, .common = sl_group_change_options, .check = check, .doc = SL_HELP_GROUP_ADMINS};

/* ---- showing ---- */

static int give_key(const char *folder, struct sl_error *error)
{
	char path[PATH_MAX + 32];
	snprintf(path, sizeof path, "%s/" SL_ADMIN_KEY_FILE, folder);
	return sl_group_folder_give(path, folder, error);
}

static int print_key(const struct admins *a, struct sl_error *error)
{
	struct sl_group_own learner;
	uint8_t made[SL_KEY_BYTES];
	char text[SL_ADMIN_TEXT_BYTES];
	int rc = sl_group_folder_open(a->folder, &learner, error);
	bool is_new = rc == SL_OK && learner.admin == NULL;
	if (is_new)
		rc = sl_admin_key_create(a->folder, made, error);
	if (is_new && rc == SL_OK)
		rc = give_key(a->folder, error);
	if (rc == SL_OK) {
		sl_admin_key_text(is_new ? made : sl_admin_key_public(learner.admin), text);
		printf(a->of.json ? "{\"key\": \"%s\"}\n" : "%s\n", text);
	}
	sl_group_folder_close(&learner);
	return rc;
}

static int list(const struct admins *a, struct sl_error *error)
{
	struct sl_group_own learner;
	char text[SL_ADMIN_TEXT_BYTES];
	int rc = sl_group_folder_open(a->folder, &learner, error);
	const struct sl_group *group = &learner.group;
	json_t *array = json_array();
	int here = rc == SL_OK && learner.admin != NULL
			   ? sl_group_find_admin(group, sl_admin_key_public(learner.admin))
			   : -1;
	if (rc == SL_OK && !a->of.json)
		printf("%" PRIu32 " of %" PRIu32 " admins of group %s must sign a change\n", group->required,
		       group->admin_count, group->name);
	for (uint32_t i = 0; rc == SL_OK && i < group->admin_count; i++) {
		sl_admin_key_text(group->admins[i], text);
		json_array_append_new(array, json_string(text));
		if (!a->of.json)
			printf("  %s%s\n", text, here == (int)i ? "  this machine" : "");
	}
	if (rc == SL_OK && a->of.json) {
		json_t *object = json_pack("{s:s, s:I, s:O}", "group", group->name, "required",
					   (json_int_t)group->required, "admins", array);
		sl_command_print_json(object, 0);
	}
	json_decref(array);
	sl_group_folder_close(&learner);
	return rc;
}

/* ---- changing ---- */

static int remove_one(struct sl_group *group, const uint8_t key[static SL_KEY_BYTES], struct sl_error *error)
{
	char text[SL_ADMIN_TEXT_BYTES];
	int at = sl_group_find_admin(group, key);
	sl_admin_key_text(key, text);
	if (at < 0)
		return sl_err_set(error, SL_ERR_NOTFOUND, "%s is not an admin of group %s", text,
				  group->name);
	memmove(group->admins[at], group->admins[at + 1],
		(group->admin_count - (uint32_t)at - 1) * sizeof *group->admins);
	group->admin_count--;
	return SL_OK;
}

static int add_one(struct sl_group *group, const uint8_t key[static SL_KEY_BYTES], struct sl_error *error)
{
	char text[SL_ADMIN_TEXT_BYTES];
	sl_admin_key_text(key, text);
	if (sl_group_find_admin(group, key) >= 0)
		return sl_err_set(error, SL_ERR_REFUSED, "%s is an admin of group %s already", text,
				  group->name);
	if (group->admin_count == SL_ADMINS_MAX)
		return sl_err_set(error, SL_ERR_FULL, "group %s has %u admins, and cannot have more",
				  group->name, SL_ADMINS_MAX);
	memcpy(group->admins[group->admin_count++], key, SL_KEY_BYTES);
	return SL_OK;
}

static int change_admins(const struct admins *a, struct sl_group *group, struct sl_error *error)
{
	int rc = SL_OK;
	for (uint32_t i = 0; rc == SL_OK && i < a->removed; i++)
		rc = remove_one(group, a->remove[i], error);
	for (uint32_t i = 0; rc == SL_OK && i < a->added; i++)
		rc = add_one(group, a->add[i], error);
	if (rc != SL_OK)
		return rc;
	if (a->required > 0)
		group->required = a->required;
	if (!sl_group_is_majority(group))
		return sl_err_set(error, SL_ERR_RANGE,
				  "of %" PRIu32 " admins, %" PRIu32
				  " cannot be required to sign: it must be more "
				  "than half of them; give another --required",
				  group->admin_count, group->required);
	return SL_OK;
}

static void print_change(const struct admins *a, const struct sl_group_change *change)
{
	const struct sl_group *next = &change->own.group;
	char what[64];
	json_t *object =
		!a->of.json ? NULL
			    : json_pack("{s:s, s:I, s:I}", "group", next->name, "required",
					(json_int_t)next->required, "count", (json_int_t)next->admin_count);
	snprintf(what, sizeof what, "%" PRIu32 " of %" PRIu32 " admins must sign", next->required,
		 next->admin_count);
	sl_group_change_print(change, object, "Done:", "so that", what);
}

static int change(const struct admins *a, struct sl_error *error)
{
	struct sl_group_change change;
	int rc = sl_group_change_begin(&change, a->folder, a->of.no_wait, error);
	if (rc == SL_OK)
		rc = change_admins(a, &change.own.group, error);
	if (rc == SL_OK)
		rc = sl_group_change_end(&change, error);
	if (rc == SL_OK)
		print_change(a, &change);
	sl_group_change_close(&change);
	return rc;
}

int sl_cmd_group_admins(int argc, char **argv)
{
	struct admins a = {0};
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &a);
	int rc = sl_group_folder_find(a.of.given_folder, a.folder, &error);
	if (rc == SL_OK)
		rc = a.key ? print_key(&a, &error) : changes(&a) ? change(&a, &error) : list(&a, &error);
	return sl_command_status(argv[0], rc, &error);
}
