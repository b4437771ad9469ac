/* proposal.h - the next version of a signed roster, which needs the signatures of further admins (GROUP.md
 * §12.1 Roster changes).
 *
 * A proposal is the text of that version with the signatures that it has so far. It holds no secret, and goes
 * from admin to admin as a file. FOLDER/proposal.yaml is the last proposal that the admin of the folder has
 * signed: this admin signs no other one of that version.
 */
#pragma once

#include "common/membership/group.h"

#define SL_PROPOSAL_FILE "proposal.yaml"

/* Read the proposal in `path`, which is to follow `now`. SL_ERR_REFUSED: it is of another group or version,
 * changes several learners of a group whose rounds go on, lets such a group form again, or uses an id again.
 * SL_ERR_CRYPTO: a signature is invalid, of no admin, or there twice, or no present admin has signed. */
int sl_proposal_load(const char *path, const struct sl_group *now, struct sl_group *proposal,
		     struct sl_error *error);
/* Take over the signatures that FOLDER/proposal.yaml has for `proposal`, and write their number.
 * SL_ERR_REFUSED: the admin of the folder has signed another proposal of this version. */
int sl_proposal_merge(const char *folder, struct sl_group *proposal, uint32_t *had, struct sl_error *error);
/* Write FOLDER/proposal.yaml. */
int sl_proposal_save(const char *folder, const struct sl_group *proposal, struct sl_error *error);

/* Describe each difference of `next` in a line. Return the text, on the heap; NULL: out of memory. */
char *sl_proposal_changes(const struct sl_group *now, const struct sl_group *next);
