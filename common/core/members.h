/* members.h - the participants of the last committed round: a sum of nearly the same participants as the last
 * one tells of the few in which they differ (GROUP.md §12.7 Privacy events). */
#pragma once

#include "common/core/state.h"

/* Take them from core->last, after each commit and at the start. */
void sl_members_take(struct sl_core *core);
/* Compare the participants of the view with them, and report a difference of fewer than c+2 learners: the
 * difference of the two sums tells about these few (GROUP.md §12.7 Privacy events). Return true if there
 * is one. */
bool sl_members_few_changed(struct sl_core *core);
