/* roster_copy.h - the rosters that the state folder keeps. An attempt that was begun under the previous
 * roster is finished under it (GROUP.md §12.1 Roster changes): state/roster.yaml is a copy of the roster for
 * that, written at a start without such an attempt. The rosters under which rounds have committed stay in
 * state/rosters, for the account of the rounds (ROUND.md §14.6 The account of the rounds). */
#pragma once

#include "common/base/err.h"
#include "common/core/core.h"

#define SL_ROSTERS_FOLDER "rosters" /* in the state folder */

struct sl_membership;

/* Return true if the view of `open` was agreed under the roster and the run of `scope`. */
bool sl_roster_copy_fits(const struct sl_scope *scope, const struct sl_open *open);
/* Refuse a roster with several changes since the last commit, unless it and the copy are signed. The store is
 * open. */
int sl_roster_copy_check(const struct sl_membership *m, struct sl_error *error);
/* Keep the copy durably in the folder of rosters, once, if it is the roster with this hash. For the worker.
 */
int sl_roster_copy_keep(const struct sl_membership *m, const uint8_t hash[static SL_HASH_BYTES],
			struct sl_error *error);
/* Replace the roster by the copy if the open attempt was begun under that one; otherwise renew the copy. The
 * store is open. */
int sl_roster_copy_take(struct sl_membership *m, struct sl_error *error);
/* Restart the program with the present roster if the attempt that waited for this record has ended. */
void sl_roster_copy_durable(struct sl_membership *m, const struct sl_durable *durable);
