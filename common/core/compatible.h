/* compatible.h - whether a learner may share an edge with this one: roster, model, history (ROUND.md
 * §7.8 Agree on the view).
 *
 * Of two link states, every learner judges alike: equal values are an equivalence.
 */
#pragma once

#include "common/core/state.h"

/* Return what keeps the signer of `link` from sharing an edge with this learner. */
enum sl_reason sl_compatible_difference(const struct sl_core *core, const struct sl_link_record *link);
/* Return true if the latest link state of peer `i`, in whichever attempt, differs from what this learner
 * states now, and the peer has not started again since: any other link state of it would differ as well. */
bool sl_compatible_differs(const struct sl_core *core, uint32_t i);
/* Return true if the latest link state of peer `i` is of another model: its results are of no use here. */
bool sl_compatible_other_model(const struct sl_core *core, uint32_t i);
/* Fill in `report` how peer `i` differs. */
void sl_compatible_describe(const struct sl_core *core, uint32_t i, enum sl_reason difference,
			    struct sl_report *report);
/* Note that it is reported in this round how peer `i` differs. Return false if it was before. */
bool sl_compatible_told(struct sl_core *core, uint32_t i, enum sl_reason difference);
/* Report that the view is agreed on without peer `i`: once a round and cause. */
void sl_compatible_report(struct sl_core *core, uint32_t i, enum sl_reason difference);
