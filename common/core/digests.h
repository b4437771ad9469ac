/* digests.h - the Digests of the present view: one of each participant, flooded (ROUND.md §7.14 Confirm,
 * §7.6 Link states and the flood).
 */
#pragma once

#include "common/core/state.h"

/* Return the Digest of the participant at `position`, or NULL. */
const struct sl_digest *sl_digests_of(const struct sl_core *core, uint32_t position);
/* Return the number of participants that have signed the result `digest`; core->at.agreeing is that of the
 * own result. */
uint64_t sl_digests_count(const struct sl_core *core, const uint8_t *digest);
/* Sign the result core->at.digest, and flood it. */
void sl_digests_sign(struct sl_core *core);
/* Keep and pass on a Digest that came over the link to `from`. Return true if it is of the present view and
 * the first of its signer, another participant. */
bool sl_digests_take(struct sl_core *core, uint32_t from, const struct sl_digest *digest);
