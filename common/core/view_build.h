/* view_build.h - a view from link states, or from disk (ROUND.md §7.8 Agree on the view). */
#pragma once

#include "common/core/state.h"

/* Return the link state of learner `i` for attempt `a` of round t, or NULL: it is not here, or of a start
 * before the one that the Hello of the learner says. */
const struct sl_link_record *sl_view_link(const struct sl_core *core, uint32_t i, sl_attempt a);

/* Build core->view from the link states of the attempt: the component of mutual edges that contains this
 * learner. Return SL_OK; SL_PENDING: core->missing names the learners whose link states are missing;
 * SL_ERR_REFUSED: the attempt has failed. */
int sl_view_build(struct sl_core *core);
/* Build core->view again from its members at the positions of `kept`, a bit set; this learner is one of them.
 * Return as sl_view_build. */
int sl_view_prune(struct sl_core *core, const uint64_t *kept);
/* Return true if core->view is built without learner `i`, for which the link states that are here now have an
 * edge: when it was built, the latest one of the learner was of a start that was not compatible. */
bool sl_view_lacks(const struct sl_core *core, uint32_t i);
/* Rebuild core->view from its bytes on disk (view_codec.h). Return false if they are not of this learner, or
 * damaged. */
bool sl_view_restore(struct sl_core *core, const uint8_t *bytes, size_t size);
