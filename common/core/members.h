/* members.h - the participants of the last committed round that this learner took part in.
 *
 * Only a participant's digest says something about a result, and a sum of nearly the same participants as the
 * last one tells of the few in which they differ. After a restart they are read from the view on disk. */
#pragma once

#include "common/core/state.h"

/* Take them from config.last_view, at the start. */
void sl_members_restore(struct sl_core *core);
/* Take them from the view of the round that has committed. */
void sl_members_remember(struct sl_core *core);
/* Compare the participants of the view with them, and report a difference of fewer than c+2 learners: the
 * difference of the two sums tells about these few (PROTOCOL.md §12.7 Privacy events). Return true if there
 * is one. */
bool sl_members_few_changed(struct sl_core *core);
/* Return true if the learner `id` is known to have taken part in the last committed round. */
bool sl_members_took_part(const struct sl_core *core, sl_id id);
