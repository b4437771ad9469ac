/* admit.h - the change of a roster by which a waiting learner becomes a member, or a member gets its new key.
 */
#pragma once

#include "common/membership/group.h"
#include "common/membership/waiting.h"

/* Apply the change to `group`, which the caller signs afterwards. SL_ERR_INVALID: another member has the
 * name, address or key; SL_ERR_REFUSED: the member that renews was removed, or another member has the key;
 * SL_ERR_FULL. */
int sl_admit(struct sl_group *group, const struct sl_waiting *waiting, struct sl_error *error);
/* Forget the waiting learners in FOLDER that `roster` has, and note in their invitations that they were
 * admitted. */
int sl_admit_forget(const char *folder, const struct sl_roster *roster, struct sl_error *error);
