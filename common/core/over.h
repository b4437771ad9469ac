/* over.h - the rules of certificates: when an attempt cannot complete any more, and when its models may be
 * used again (ROUND.md §9.2 When an attempt is over, §9.4 Rule B). Pure functions of a view and of the
 * Aborts that a learner holds.
 */
#pragma once

#include "common/protocol/view.h"

/* A mark is what a participant's Abort says (SL_ABORT_UNRELEASED ..), and this bit if it names no Ready. */
#define SL_OVER_UNREADY 8u

/* Return the mark of an Abort; 0: it does not count. ready: what the signer's Ready of the attempt signs,
 * NULL: none is held. */
uint8_t sl_over_judge(const struct sl_abort *abort_record, const uint8_t *ready);

/* Return true if too few participants are left that may sign a Digest: a commit is out of reach, unless one
 * of the signers denies its Abort. marks: by position. */
bool sl_over_hopeless(const struct sl_view *view, const uint8_t *marks);
/* Return true if the attempt is over. */
bool sl_over_proved(const struct sl_view *view, const uint8_t *marks);
/* Return true if the models of an attempt that is over may enter another one. */
bool sl_over_reusable(const struct sl_view *view, const uint8_t *marks);
