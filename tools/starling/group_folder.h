/* group_folder.h - the folder of a group on one machine: starlingd.yaml, roster.yaml, identity/, state/; on
 * the admin's machine also admin.key, invitations/ and waiting/.
 *
 * The usual place of root is /var/lib/starling/GROUP, where starlingd@GROUP.service expects the folder;
 * that of another user is ~/.local/share/starling/GROUP.
 */
#pragma once

#include <limits.h>
#include <stdio.h>

#include "common/membership/admin_key.h"
#include "common/membership/group.h"
#include "common/config/settings.h"
#include "tools/lib/option.h"

#define SL_GROUP_FOLDER_CONFIG "starlingd.yaml"
#define SL_GROUP_FOLDER_ROSTER "roster.yaml"
#define SL_GROUP_FOLDER_IDENTITY "identity"

/* The options of the commands on a group of this machine; the first field of the options of each. */
struct sl_group_options {
	const char *given_folder;
	bool json, no_wait;
};
extern const struct sl_option sl_group_options[];	 /* --folder, --json */
extern const struct sl_option sl_group_change_options[]; /* .. and --no-wait, of those that sign a change */

/* The values of --set KEY=VALUE, checked. A struct of options has them as its first field. */
struct sl_group_sets {
	const char **items;
	size_t count, room;
};
void sl_group_folder_take_set(struct argp_state *state, const char *value, void *options);

/* Write the path of the folder for a new group: `given`, or the usual place if it is NULL. */
int sl_group_folder_new(const char *given, const char *group, char folder[static PATH_MAX],
			struct sl_error *error);
/* Write the path of the folder of this machine's group: `given`, or the only one in the usual place.
 * SL_ERR_NOTFOUND: there is none, or there are several. */
int sl_group_folder_find(const char *given, char folder[static PATH_MAX], struct sl_error *error);
/* Make the folder with mode 0700, and those above it. */
int sl_group_folder_make(const char *folder, struct sl_error *error);
/* If this process is root, make the owner of `folder` the owner of `path` and all that is in it. */
int sl_group_folder_give(const char *path, const char *folder, struct sl_error *error);
/* Return true if a group may set `key` for all its learners: settings of the round, of its timeouts and of
 * the training, but no path, address or command of a machine. */
bool sl_group_folder_is_shared(const char *key);
/* Write roster.yaml and then starlingd.yaml for the member `id`, with the settings of the group and `own`
 * ones of this machine. SL_ERR_REFUSED: the group sets what only a machine may set. */
int sl_group_folder_write(const char *folder, const struct sl_group *group, sl_id id,
			  const struct sl_group_sets *own, struct sl_error *error);
/* Check the settings of the next roster of the folder, as a learner will read them, and write them to
 * `settings`. If rounds have begun, they must follow `now`. */
int sl_group_folder_check(const char *folder, struct sl_group *next, const struct sl_settings *now,
			  struct sl_settings *settings, struct sl_error *error);
/* Write the command that starts the learner of the folder. */
void sl_group_folder_start(const char *folder, char *command, size_t size);

/* Return true if all members but `self`, and there are some, have an address that leads each machine to
 * itself: so all are on one machine. */
bool sl_group_folder_is_here(const struct sl_roster *roster, int self);
/* Return why learners on other machines may be unable to dial any of `addresses`, and write the first one to
 * `one`; NULL: they may. `here`: all learners are on this machine. */
const char *sl_group_folder_flaw(const char *addresses, bool here, char one[static SL_ADDRESS_BYTES]);
/* Say that, and the remedy, on standard error. */
void sl_group_folder_warn(const char *addresses, bool here, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The learner of a folder. */
struct sl_group_own {
	struct sl_settings settings;
	struct sl_group group;
	const struct sl_member *member; /* of the roster */
	uint8_t *admin;			/* secret key in admin.key; NULL: there is none */
};
/* Read the folder. Close it in any case. SL_ERR_REFUSED: its roster is plain; sl_group_folder_read takes
 * that.
 */
int sl_group_folder_read(const char *folder, struct sl_group_own *own, struct sl_error *error);
int sl_group_folder_open(const char *folder, struct sl_group_own *own, struct sl_error *error);
void sl_group_folder_close(struct sl_group_own *own);
/* Return true if this is the machine of an admin of the group. */
bool sl_group_folder_is_admin(const struct sl_group_own *own);
/* Refuse a plain roster. SL_ERR_REFUSED. */
int sl_group_folder_need_signed(const struct sl_group_own *own, struct sl_error *error);
/* Refuse what only an admin may do. SL_ERR_REFUSED. */
int sl_group_folder_need_admin(const char *folder, const struct sl_group_own *own, struct sl_error *error);
