/* group_change.h - one change of a signed roster, on the machine of an admin (GROUP.md §12.1 Roster
 * changes).
 *
 * The next version may be signed once the learner of this machine has committed a round under the present
 * one, or while the group is forming. Commands wait for that. Of two commands at a time, the second waits for
 * the first.
 */
#pragma once

#include <jansson.h>

#include "tools/starling/group_folder.h"
#include "tools/starling/wait_report.h"

struct sl_group_change {
	char folder[PATH_MAX];
	struct sl_group_own own;      /* own.group is changed by the caller, between begin and end */
	struct sl_group now;	      /* the roster in force */
	uint32_t missing;	      /* set by sl_group_change_end: further admins that must sign */
	bool no_wait;		      /* do not wait: SL_ERR_BUSY */
	bool waits;		      /* .. sl_group_change_end, until the group may change */
	int lock;		      /* descriptor; -1: none */
	struct sl_wait_report silent; /* said that the learner of this machine does not answer */
};

/* Read the folder `given`, or the only one of this machine if it is NULL. SL_ERR_BUSY: another command
 * changes its group, and `no_wait` is set. SL_ERR_REFUSED: this is not the machine of an admin. Close it in
 * any case. */
int sl_group_change_begin(struct sl_group_change *change, const char *given, bool no_wait,
			  struct sl_error *error);
/* The same, of a change that waits for no round. Its roster may be plain, and it need not have an admin
 * key. */
int sl_group_change_read(struct sl_group_change *change, const char *given, bool no_wait,
			 struct sl_error *error);
/* Wait until the group may change. SL_ERR_BUSY: it may not yet, and no_wait is set, or another admin has
 * changed it meanwhile. */
int sl_group_change_await(struct sl_group_change *change, struct sl_error *error);
/* Return the index of the learner `name` in change->own.group. SL_ERR_NOTFOUND. */
int sl_group_change_find(const struct sl_group_change *change, const char *name, struct sl_error *error);
/* Check change->own.group and sign it as the next version, which waits until the group may change: so what is
 * wrong is said at once, also if the learner of this machine does not run. If enough admins have signed it,
 * write it, and make the running learner of this machine take it; else keep it as a proposal. */
int sl_group_change_end(struct sl_group_change *change, struct sl_error *error);
/* Check the settings of the roster `next`, and that the learner of this machine has not passed its last
 * round; say what a larger quorum risks. */
int sl_group_change_check(struct sl_group_change *change, struct sl_group *next, struct sl_error *error);
/* Do what sl_group_change_end does after that, with the roster `next`. */
int sl_group_change_give(struct sl_group_change *change, struct sl_group *next, struct sl_error *error);
void sl_group_change_close(struct sl_group_change *change);

/* Print that a change was made, "Removed: clinic-c", or that it needs further signatures, "to remove
 * clinic-c", with the name as `what`; for `object`, not NULL, print that as JSON instead, with what
 * sl_group_change_json adds, and free it. */
void sl_group_change_print(const struct sl_group_change *change, json_t *object, const char *done,
			   const char *proposed, const char *what);
/* Add "version" to `object`, and "needs" and "proposal" if further admins must sign. */
void sl_group_change_json(const struct sl_group_change *change, json_t *object);

/* Write a newer version that another machine has signed, and make the learner of this machine take it. */
int sl_group_change_take(const char *folder, const struct sl_group *group, struct sl_error *error);
