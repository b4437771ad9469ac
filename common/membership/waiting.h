/* waiting.h - a learner that waits for its admission: FOLDER/waiting/NAME.yaml, mode 0600.
 *
 * The daemon writes it when a learner has proved that it has an invitation, or when a member has proved that
 * it has a new key. `starling admit` reads and removes it. At most SL_WAITING_MAX wait.
 */
#pragma once

#include "common/membership/invitation.h"

#define SL_WAITING_MAX 64u

struct sl_waiting {
	char name[SL_NAME_BYTES], address[SL_ADDRESS_BYTES];
	uint8_t pin[SL_HASH_BYTES];
	uint64_t since;				    /* seconds since 1970 */
	uint8_t invitation[SL_INVITATION_ID_BYTES]; /* that the learner used; zeros: it is a member */
	sl_id renews; /* the member that is to have this key; 0: it is a new learner */
};

/* Write the file, in place of one of the same name. SL_ERR_IO. */
int sl_waiting_save(const char *folder, const struct sl_waiting *waiting, struct sl_error *error);
/* SL_ERR_NOTFOUND: no learner of this name waits. SL_ERR_FORMAT. */
int sl_waiting_load(const char *folder, const char *name, struct sl_waiting *waiting, struct sl_error *error);
/* Read all of them, ascending by name. A file that cannot be read is left out, and `error` is set, which may
 * be NULL. Return their number, at most SL_WAITING_MAX. */
uint32_t sl_waiting_list(const char *folder, struct sl_waiting list[static SL_WAITING_MAX],
			 struct sl_error *error);
int sl_waiting_remove(const char *folder, const char *name, struct sl_error *error);
