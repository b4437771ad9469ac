/* group.h - the commands `starling group ...`. */
#pragma once

#include "common/membership/group.h"
#include "common/membership/invitation.h"

int sl_cmd_group_invite(int argc, char **argv);
int sl_cmd_group_rotate(int argc, char **argv);
int sl_cmd_group_update(int argc, char **argv);
int sl_cmd_group_create(int argc, char **argv);
int sl_cmd_group_list(int argc, char **argv);
int sl_cmd_group_remove(int argc, char **argv);
int sl_cmd_group_address(int argc, char **argv);
int sl_cmd_group_admins(int argc, char **argv);
int sl_cmd_group_set(int argc, char **argv);
int sl_cmd_group_sign(int argc, char **argv);
int sl_cmd_group_export(int argc, char **argv);

/* Read a duration such as 30m, 24h or 7d, of at most a year. */
int sl_group_invite_duration(const char *text, uint64_t *seconds, struct sl_error *error);
/* Make an invitation to the group of `folder`, by the admin with the public key `admin`, and write its text.
 */
int sl_group_invite(const char *folder, const struct sl_group *group,
		    const uint8_t admin[static SL_KEY_BYTES], const char *address, uint64_t expires_s,
		    uint32_t uses, bool automatic, char text[static SL_INVITATION_TEXT_BYTES],
		    struct sl_error *error);
