/* group_change.h - one change of a signed roster, on the machine with the admin key (PROTOCOL.md §12.1 Roster
 * changes).
 *
 * The next version may be signed once the learner of this machine has committed a round under the present
 * one, or while the group is forming. Commands wait for that. Of two of them at a time, the second waits for
 * the first.
 */
#pragma once

#include "tools/starling/group_folder.h"

struct sl_group_change {
	char folder[PATH_MAX];
	struct sl_group_own own; /* own.group is changed by the caller, between begin and end */
	int lock;		 /* descriptor; -1: none */
};

/* Read the folder and wait until its group may change. SL_ERR_BUSY: it may not yet, and `no_wait` is set.
 * SL_ERR_REFUSED: this machine has no admin key. Close it in any case. */
int sl_group_change_begin(struct sl_group_change *change, const char *folder, bool no_wait,
			  struct sl_error *error);
/* Return the index of the learner `name` in change->own.group. SL_ERR_NOTFOUND. */
int sl_group_change_find(const struct sl_group_change *change, const char *name, struct sl_error *error);
/* Sign change->own.group as the next version, write it, and make the running learner of this machine take it.
 */
int sl_group_change_end(struct sl_group_change *change, struct sl_error *error);
void sl_group_change_close(struct sl_group_change *change);

/* Write a newer version that another machine has signed, and make the learner of this machine take it. */
int sl_group_change_take(const char *folder, const struct sl_group *group, struct sl_error *error);
