/* invitation_file.h - an open invitation as the inviting learner keeps it: FOLDER/invitations/ID, mode 0600.
 *
 * `starling group create` and `group invite` write it. The daemon of the same folder notes in it the keys
 * that have used the invitation: such a learner may ask again, with the same key.
 */
#pragma once

#include "common/membership/invitation.h"
#include "common/config/roster.h"

struct sl_invitation_file {
	uint8_t secret[SL_INVITATION_SECRET_BYTES];
	uint64_t expires;
	uint32_t uses;	/* learners that may use it */
	bool automatic; /* a learner that uses it is admitted without a question */
	uint32_t used;
	uint8_t pins[SL_INVITATION_USES_MAX][SL_HASH_BYTES]; /* of the `used` learners that have used it */
	bool admitted[SL_INVITATION_USES_MAX];		     /* .. that learner is a member, or was one */
};

/* Remove old files, draw id and secret of `invitation`, whose other fields the caller has set, and write its
 * file. SL_ERR_IO.
 */
int sl_invitation_file_create(const char *folder, struct sl_invitation *invitation, uint32_t uses,
			      bool automatic, struct sl_error *error);
/* Read the file. SL_ERR_NOTFOUND: there is no such invitation. Wipe it with sl_invitation_file_close. */
int sl_invitation_file_load(const char *folder, const uint8_t id[static SL_INVITATION_ID_BYTES],
			    struct sl_invitation_file *file, struct sl_error *error);
/* Return the index of a key that has used the invitation before, or -1. */
int sl_invitation_file_find(const struct sl_invitation_file *file, const uint8_t pin[static SL_HASH_BYTES]);
/* Return true if the invitation admits without a question: not when a key that it admitted is in `roster` no
 * more. A learner that was removed could make another key. */
bool sl_invitation_file_is_automatic(const struct sl_invitation_file *file, const struct sl_roster *roster);
/* Note durably that the key uses the invitation. SL_ERR_FULL: all its uses are taken. */
int sl_invitation_file_use(const char *folder, const uint8_t id[static SL_INVITATION_ID_BYTES],
			   struct sl_invitation_file *file, const uint8_t pin[static SL_HASH_BYTES],
			   struct sl_error *error);
/* Note durably that the key was admitted: after its removal, the invitation does not admit it again. Do
 * nothing if the invitation is gone. */
int sl_invitation_file_admit(const char *folder, const uint8_t id[static SL_INVITATION_ID_BYTES],
			     const uint8_t pin[static SL_HASH_BYTES], struct sl_error *error);
/* Withdraw the invitation. */
int sl_invitation_file_remove(const char *folder, const uint8_t id[static SL_INVITATION_ID_BYTES],
			      struct sl_error *error);
/* Remove invitations that expired more than a day ago, unless a learner waits with one. */
void sl_invitation_file_sweep(const char *folder);
void sl_invitation_file_close(struct sl_invitation_file *file);
