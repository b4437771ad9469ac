/* group_update.h - newer versions of a signed roster: how they spread over the links, and when this learner
 * takes one (GROUP.md §12.1 Roster changes).
 *
 *   link up ---> each end tells its version ---> the end with the newer one sends the roster, in parts
 *   newer roster ---> verified ---> written to the file of the setting `roster` ---> sent on at once
 *                ---> taken when no attempt is open, or its view is not agreed on yet
 *
 * Taking it is a restart of the program (reload.h). An attempt that is open, or a training that has taken a
 * while, is waited for, until the next commit, but not longer than SL_GROUP_UPDATE_WAIT_MS. A learner that
 * has just committed takes it at once: most others have, and would have no quorum without it.
 */
#pragma once

#include "common/membership/group.h"

struct sl_membership;

#define SL_GROUP_UPDATE_WAIT_MS 30000u
#define SL_GROUP_UPDATE_TRAIN_MS 1000u /* a training that began so long ago is no reason to wait */
#define SL_GROUP_PART_BYTES 60000u     /* of a part of a roster in a frame */
#define SL_GROUP_PARTS_MS 60000u /* after which a roster that arrives gives way to that of another peer */
#define SL_GROUP_AGAIN_MS 10000u /* after a part was dropped, its peer is told the version again */
#define SL_GROUP_QUIET_MS 60000u /* for which no roster of a peer is read after one that was not taken */

/* Begin with the roster of `m`. */
int sl_group_update_open(struct sl_membership *m, struct sl_error *error);
void sl_group_update_close(struct sl_membership *m);
/* Tell `peer`, whose link has come up, the versions of the roster and of the program. */
void sl_group_update_link_up(struct sl_membership *m, uint32_t peer);
/* Take a frame of a group. */
void sl_group_update_frame(struct sl_membership *m, uint32_t peer, uint32_t kind, const uint8_t *payload,
			   size_t size);
/* Verify a roster, write it to the file, send it on, and take it when it is time. SL_ERR_REFUSED: it does not
 * follow the present one. */
int sl_group_update_text(struct sl_membership *m, const char *text, size_t bytes, struct sl_error *error);
/* The same for a roster that is in the file already. */
int sl_group_update_file(struct sl_membership *m, const struct sl_group *group, struct sl_error *error);
/* Start the program again if a newer roster waits, and a round has been committed, nothing is shared in an
 * attempt, or it has waited long. Called after each drain of the event queue, too: when the restart of a peer
 * has ended an attempt, no other is begun without it. */
void sl_group_update_look(struct sl_membership *m, bool committed);
