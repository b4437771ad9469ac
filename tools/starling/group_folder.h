/* group_folder.h - the folder of a group on one machine: starlingd.yaml, roster.yaml, identity/, state/; on
 * the admin's machine also admin.key, invitations/ and waiting/.
 *
 * Root has them in /var/lib/starling/GROUP, where starlingd@GROUP.service expects them; others in
 * ~/.local/share/starling/GROUP.
 */
#pragma once

#include <limits.h>
#include <stdio.h>

#include "common/config/admin_key.h"
#include "common/config/group.h"
#include "common/config/settings.h"

#define SL_GROUP_FOLDER_CONFIG "starlingd.yaml"
#define SL_GROUP_FOLDER_ROSTER "roster.yaml"
#define SL_GROUP_FOLDER_IDENTITY "identity"

/* Write the folder of a group that this machine does not have yet: `given`, or the usual place; NULL: none is
 * given. */
int sl_group_folder_new(const char *given, const char *group, char folder[static PATH_MAX],
			struct sl_error *error);
/* Find the folder of a group of this machine: `given`, or the only one in the usual place. SL_ERR_NOTFOUND:
 * there is none, or there are several. */
int sl_group_folder_find(const char *given, char folder[static PATH_MAX], struct sl_error *error);
/* Make the folder with mode 0700, and those above it. */
int sl_group_folder_make(const char *folder, struct sl_error *error);
/* Give what is at `path`, and what is in it, to the owner of `folder`, if this is root. */
int sl_group_folder_give(const char *path, const char *folder, struct sl_error *error);
/* Write roster.yaml and then starlingd.yaml for the member `id`, and give the folder to its owner. */
int sl_group_folder_write(const char *folder, const struct sl_group *group, sl_id id, struct sl_error *error);
/* Print the command that starts the learner of the folder. */
void sl_group_folder_print_start(FILE *out, const char *folder);

/* The learner of a folder. */
struct sl_group_own {
	struct sl_settings settings;
	struct sl_group group;
	const struct sl_member *member; /* of the roster */
	uint8_t *admin;			/* secret key of the admin; NULL: this is not the admin's machine */
};
/* Read the folder. Close it in any case. */
int sl_group_folder_open(const char *folder, struct sl_group_own *own, struct sl_error *error);
void sl_group_folder_close(struct sl_group_own *own);
