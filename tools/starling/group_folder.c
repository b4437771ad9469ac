#include "tools/starling/group_folder.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clean.h"
#include "common/membership/private_file.h"
#include "common/config/settings_table.h"
#include "common/config/yaml_text.h"
#include "common/report/modulus.h"
#include "daemon/runtime/address.h"
#include "daemon/runtime/streams.h"

#define PLACE_OF_ROOT "/var/lib/starling" /* of the folders of groups */

#define OPTIONS                                                                                              \
	{"folder", 0, "DIR", "folder of the group, if this machine has several",                             \
	 SL_SETS(struct sl_group_options, given_folder)},                                                    \
	{                                                                                                    \
		"json", 0, NULL, "print the result as JSON", SL_SETS(struct sl_group_options, json)          \
	}

const struct sl_option sl_group_options[] = {OPTIONS, {0}};
const struct sl_option sl_group_change_options[] = {
	OPTIONS,
	{"no-wait", 0, NULL, "if a round must commit first, end with status 1 instead of waiting",
	 SL_SETS(struct sl_group_options, no_wait)},
	{0}};

/* Write the folder that has those of groups: PLACE_OF_ROOT for root, else one in the home folder. */
static int find_place(char path[static PATH_MAX], struct sl_error *error)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	int n;
	if (geteuid() == 0)
		n = snprintf(path, PATH_MAX, PLACE_OF_ROOT);
	else if (data != NULL && data[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/starling", data);
	else if (home != NULL && home[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/.local/share/starling", home);
	else
		return sl_err_set(error, SL_ERR_NOTFOUND,
				  "HOME is not set; name the folder with --folder DIR");
	return n > 0 && (size_t)n + SL_NAME_BYTES + 64 < PATH_MAX
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_RANGE, "the path of the home folder is too long");
}

#define AS_ROOT ", or run this command as root: " PLACE_OF_ROOT " has folders that this user cannot read"

/* Return true if PLACE_OF_ROOT has a folder that this user cannot read. */
static bool is_hidden(void)
{
	char path[PATH_MAX];
	bool hidden = false;
	DIR *all = opendir(PLACE_OF_ROOT);
	if (all == NULL)
		return errno == EACCES;
	for (const struct dirent *entry; !hidden && (entry = readdir(all)) != NULL;) {
		snprintf(path, sizeof path, PLACE_OF_ROOT "/%s", entry->d_name);
		hidden = entry->d_name[0] != '.' && access(path, R_OK | X_OK) != 0 && errno == EACCES;
	}
	closedir(all);
	return hidden;
}

/* Write the absolute path: it goes into commands that a user runs elsewhere. */
static int take_given(const char *given, char folder[static PATH_MAX], struct sl_error *error)
{
	char here[PATH_MAX];
	int n;
	if (given[0] == '/')
		n = snprintf(folder, PATH_MAX, "%s", given);
	else if (getcwd(here, sizeof here) != NULL)
		n = snprintf(folder, PATH_MAX, "%s/%s", here, given);
	else
		return sl_err_set(error, SL_ERR_IO, "the present folder: %s", strerror(errno));
	while (n > 1 && n < PATH_MAX && folder[n - 1] == '/')
		folder[--n] = '\0';
	return n > 0 && n + 64 < PATH_MAX ? SL_OK
					  : sl_err_set(error, SL_ERR_RANGE, "--folder: the path is too long");
}

int sl_group_folder_new(const char *given, const char *group, char folder[static PATH_MAX],
			struct sl_error *error)
{
	char place[PATH_MAX];
	if (given != NULL)
		return take_given(given, folder, error);
	int rc = find_place(place, error);
	if (rc == SL_OK)
		snprintf(folder, PATH_MAX, "%.*s/%s", PATH_MAX - (int)SL_NAME_BYTES - 2, place, group);
	return rc;
}

static bool has_config(const char *folder)
{
	char path[PATH_MAX + 32];
	snprintf(path, sizeof path, "%s/" SL_GROUP_FOLDER_CONFIG, folder);
	return access(path, F_OK) == 0;
}

/* Find the only group in `place`; write the names of all if there are several. */
static uint32_t look_for(const char *place, char folder[static PATH_MAX], char *names, size_t size)
{
	char path[PATH_MAX + NAME_MAX + 2];
	uint32_t count = 0;
	size_t used = 0;
	DIR *all = opendir(place);
	names[0] = '\0';
	for (const struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;) {
		snprintf(path, sizeof path, "%s/%s", place, entry->d_name);
		if (entry->d_name[0] == '.' || strlen(path) >= PATH_MAX || !has_config(path))
			continue;
		if (count++ == 0)
			snprintf(folder, PATH_MAX, "%.*s", PATH_MAX - 1, path);
		if (used < size)
			used += (size_t)snprintf(names + used, size - used, "%s%s", count > 1 ? ", " : "",
						 entry->d_name);
	}
	if (all != NULL)
		closedir(all);
	return count;
}

int sl_group_folder_find(const char *given, char folder[static PATH_MAX], struct sl_error *error)
{
	char place[PATH_MAX], names[256];
	if (given != NULL) {
		int rc = take_given(given, folder, error);
		if (rc != SL_OK || has_config(folder))
			return rc;
		if (errno == EACCES)
			return sl_err_set(error, SL_ERR_NOTFOUND, "%s: %s; run this command as root", given,
					  strerror(errno));
		return sl_err_set(error, SL_ERR_NOTFOUND,
				  "%s: there is no " SL_GROUP_FOLDER_CONFIG
				  "; 'starling group create' and 'starling join' make the folder of a group",
				  given);
	}
	int rc = find_place(place, error);
	uint32_t count = rc == SL_OK ? look_for(place, folder, names, sizeof names) : 0;
	if (rc != SL_OK || count == 1)
		return rc;
	return count == 0 ? sl_err_set(error, SL_ERR_NOTFOUND,
				       "%.200s has no group; name its folder with --folder DIR%s", place,
				       is_hidden() ? AS_ROOT : "")
			  : sl_err_set(error, SL_ERR_NOTFOUND,
				       "%.200s has several groups (%.120s); choose one with --folder DIR",
				       place, names);
}

int sl_group_folder_make(const char *folder, struct sl_error *error)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s", folder);
	for (char *at = path + 1;; at++) {
		if (*at != '/' && *at != '\0')
			continue;
		char kept = *at;
		*at = '\0';
		if (mkdir(path, kept == '\0' ? 0700 : 0755) != 0 && errno != EEXIST)
			return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
		*at = kept;
		if (kept == '\0')
			return SL_OK;
	}
}

/* ---- the owner ---- */

static struct stat owner; /* of nftw, which has no argument of its own */

static int give_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return lchown(path, owner.st_uid, owner.st_gid);
}

int sl_group_folder_give(const char *path, const char *folder, struct sl_error *error)
{
	if (geteuid() != 0)
		return SL_OK;
	if (stat(folder, &owner) != 0 || nftw(path, give_one, 16, FTW_PHYS) != 0)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	return SL_OK;
}

/* ---- files ---- */

static void put_setting(FILE *out, const char *key, const char *value)
{
	fprintf(out, "%s: ", key);
	sl_yaml_text_quote(out, value);
	fputc('\n', out);
}

bool sl_group_folder_is_shared(const char *key)
{
	const struct sl_setting *row = sl_settings_table_find(key);
	return row != NULL && row->group != SL_GROUP_FILES && row->group != SL_GROUP_DEBUGGING &&
	       row->kind >= SL_SETTING_CHOICE;
}

static int put_settings(FILE *out, const struct sl_group *group, const struct sl_group_sets *own,
			struct sl_error *error)
{
	char key[SL_NAME_BYTES];
	for (uint32_t i = 0; i < group->setting_count; i++) {
		const char *name = group->settings[i].key; /* its value was checked with the roster */
		if (!sl_group_folder_is_shared(name))
			return sl_err_set(
				error, SL_ERR_REFUSED,
				"the roster of group %s sets '%s', which only a machine may set for "
				"itself: ask the admin to make a group without it",
				group->name, name);
		if (!sl_settings_table_find(name)->shared)
			put_setting(out, name, group->settings[i].value);
	}
	for (size_t i = 0; own != NULL && i < own->count; i++) {
		const char *equals = strchr(own->items[i], '=');
		snprintf(key, sizeof key, "%.*s", (int)(equals - own->items[i]), own->items[i]);
		if (!sl_group_folder_is_shared(key))
			put_setting(out, key, equals + 1);
	}
	return SL_OK;
}

static int write_config(const char *folder, const struct sl_group *group, sl_id id,
			const struct sl_group_sets *own, struct sl_error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (out == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	fprintf(out,
		"# A learner of group %s. 'starlingd --settings' lists every setting.\n"
		"run: %s\nid: %" PRIu32 "\nroster: " SL_GROUP_FOLDER_ROSTER
		"\nidentity: " SL_GROUP_FOLDER_IDENTITY "\nstate: state\n",
		group->name, group->name, id);
	int rc = put_settings(out, group, own, error);
	if (fclose(out) != 0 && rc == SL_OK)
		rc = sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	if (rc == SL_OK)
		rc = sl_private_file_write(folder, SL_GROUP_FOLDER_CONFIG, text, size, error);
	free(text);
	return rc;
}

int sl_group_folder_write(const char *folder, const struct sl_group *group, sl_id id,
			  const struct sl_group_sets *own, struct sl_error *error)
{
	char path[PATH_MAX + sizeof SL_GROUP_FOLDER_ROSTER];
	snprintf(path, sizeof path, "%s/" SL_GROUP_FOLDER_ROSTER, folder);
	int rc = sl_group_save(path, group, error);
	if (rc == SL_OK)
		rc = write_config(folder, group, id, own,
				  error); /* the last: with it, the folder is complete */
	return rc == SL_OK ? sl_group_folder_give(folder, folder, error) : rc;
}

int sl_group_folder_check(const char *folder, struct sl_group *next, const struct sl_settings *now,
			  struct sl_settings *settings, struct sl_error *error)
{
	const struct sl_roster *roster = &next->roster;
	bool forming = sl_group_is_forming(next);
	uint32_t size = forming ? next->start : roster->size, quorum;
	char path[PATH_MAX + sizeof SL_GROUP_FOLDER_CONFIG];
	snprintf(path, sizeof path, "%s/" SL_GROUP_FOLDER_CONFIG, folder);
	int rc = sl_group_check_settings(path, next, settings, error);
	if (rc == SL_OK)
		rc = sl_settings_quorum(settings, size, &quorum, error);
	if (rc == SL_OK)
		rc = sl_settings_size(settings, size, error);
	if (rc == SL_OK)
		rc = sl_modulus_check(settings, size, roster->members[roster->size - 1].id, error);
	return rc == SL_OK && !forming ? sl_settings_follow(now, settings, error) : rc;
}

void sl_group_folder_take_set(struct argp_state *state, const char *value, void *options)
{
	struct sl_group_sets *sets = options;
	struct sl_error error;
	static const char *const written[] = {"run", "id", "roster", "identity", "state", "accept_roster"};
	for (size_t i = 0; i < sizeof written / sizeof *written; i++)
		if (strncmp(value, written[i], strlen(written[i])) == 0 && value[strlen(written[i])] == '=')
			argp_failure(state, SL_EXIT_USAGE, 0, "--set: '%s' follows from the group",
				     written[i]);
	if (sl_settings_check(value, &error) != SL_OK)
		argp_failure(state, SL_EXIT_USAGE, 0, "%s", error.text);
	sets->items = sl_command_grow(sets->items, sets->count, &sets->room, sizeof *sets->items);
	sets->items[sets->count++] = value;
}

void sl_group_folder_start(const char *folder, char *command, size_t size)
{
	const char *name = strrchr(folder, '/');
	bool unit = geteuid() == 0 && strncmp(folder, PLACE_OF_ROOT "/", sizeof PLACE_OF_ROOT) == 0 &&
		    access("/run/systemd/system", F_OK) == 0;
	char path[PATH_MAX + 16], word[PATH_MAX + 24];
	snprintf(path, sizeof path, "%s/" SL_GROUP_FOLDER_CONFIG, folder);
	sl_clean_shell_word(path, word, sizeof word);
	if (unit)
		snprintf(command, size, "systemctl enable --now starlingd@%s", name + 1);
	else
		snprintf(command, size, "starlingd --config %s", word);
}

/* ---- addresses that lead nowhere ---- */

bool sl_group_folder_is_here(const struct sl_roster *roster, int self)
{
	char one[SL_ADDRESS_BYTES];
	bool here = roster->size > 1;
	for (uint32_t i = 0; i < roster->size; i++) {
		sl_roster_address_at(roster->members[i].address, 0, one);
		here = here && ((int)i == self || sl_address_is_here(one));
	}
	return here;
}

const char *sl_group_folder_flaw(const char *addresses, bool here, char one[static SL_ADDRESS_BYTES])
{
	const char *flaw = NULL;
	for (uint32_t i = sl_roster_address_at(addresses, 0, one); i-- > 0;) {
		sl_roster_address_at(addresses, i, one);
		flaw = here && sl_address_is_here(one) ? NULL : sl_address_flaw(one, true);
		if (flaw == NULL)
			return NULL;
	}
	return flaw;
}

void sl_group_folder_warn(const char *addresses, bool here, const char *format, ...)
{
	char one[SL_ADDRESS_BYTES];
	const char *flaw = sl_group_folder_flaw(addresses, here, one);
	va_list list;
	if (flaw == NULL)
		return;
	sl_streams_flush(stdout);
	fprintf(stderr, "Other machines may be unable to reach %s, which %s; to correct it: ", one, flaw);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
}

/* ---- the own learner ---- */

/* Load the admin key, if this is the machine that has it. */
static int load_admin(const char *folder, struct sl_group_own *own, struct sl_error *error)
{
	struct sl_error why;
	own->admin = sl_admin_key_load(folder, &why);
	return own->admin != NULL || why.code == SL_ERR_NOTFOUND
		       ? SL_OK
		       : sl_err_set(error, why.code, "%s", why.text);
}

int sl_group_folder_open(const char *folder, struct sl_group_own *own, struct sl_error *error)
{
	int rc = sl_group_folder_read(folder, own, error);
	return rc == SL_OK ? sl_group_folder_need_signed(own, error) : rc;
}

int sl_group_folder_need_signed(const struct sl_group_own *own, struct sl_error *error)
{
	if (sl_group_is_signed(&own->group))
		return SL_OK;
	return sl_err_set(error, SL_ERR_REFUSED,
			  "%s is not signed, so that 'starling group create' has not made it: change "
			  "it by hand, see roster(5)",
			  own->settings.roster);
}

int sl_group_folder_read(const char *folder, struct sl_group_own *own, struct sl_error *error)
{
	char path[PATH_MAX + 32];
	*own = (struct sl_group_own){.member = NULL};
	snprintf(path, sizeof path, "%s/" SL_GROUP_FOLDER_CONFIG, folder);
	int rc = sl_group_load_settings(path, NULL, 0, &own->settings, &own->group, error);
	int at = rc == SL_OK ? sl_roster_find(&own->group.roster, own->settings.id) : -1;
	if (rc == SL_OK && at < 0)
		rc = sl_err_set(error, SL_ERR_REFUSED,
				"%s: learner %" PRIu32 ", of this machine, was removed", own->settings.roster,
				own->settings.id);
	if (at >= 0)
		own->member = &own->group.roster.members[at];
	return rc == SL_OK ? load_admin(folder, own, error) : rc;
}

void sl_group_folder_close(struct sl_group_own *own)
{
	sl_group_close(&own->group);
	if (own->admin != NULL)
		sl_admin_key_close(own->admin);
	own->admin = NULL;
	own->member = NULL;
}

bool sl_group_folder_is_admin(const struct sl_group_own *own)
{
	return own->admin != NULL && sl_group_find_admin(&own->group, sl_admin_key_public(own->admin)) >= 0;
}

int sl_group_folder_need_admin(const char *folder, const struct sl_group_own *own, struct sl_error *error)
{
	int rc = sl_group_folder_need_signed(own, error);
	if (rc != SL_OK)
		return rc;
	if (own->admin == NULL)
		return sl_err_set(
			error, SL_ERR_REFUSED,
			"%s has no admin key: run this command on the machine of an admin, such as the "
			"one on which the group was created",
			folder);
	if (!sl_group_folder_is_admin(own))
		return sl_err_set(
			error, SL_ERR_REFUSED,
			"%s: the admin key of this machine does not belong to an admin of group %s; "
			"an admin can add it: starling group admins",
			folder, own->group.name);
	return SL_OK;
}
