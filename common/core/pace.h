/* pace.h - how long a neighbour may hold up the others (ROUND.md §7.10 Share).
 *
 * In SHARE all neighbours go on in step, at the pace of the slowest. So it is not the rate of a neighbour
 * that counts, but the time for which it alone is waited for: those from which the fewest chunks are here,
 * while most of the others have sent all that they may.
 *
 *    r   |--- chunk ---|---------- held up ----------|--- chunk ---| ..
 *    j   |--- chunk ---| it needs the next one of r   |
 *
 * In READY a participant whose neighbours are ready lacks nothing of them. It hangs after three times as long
 * as it took the last time. MIX and CHECK are measured by the time that SHARE and READY took. */
#pragma once

#include "common/core/state.h"

#define SL_DEPOSIT_WINDOW 8u /* chunks of its deposit that a neighbour sends ahead of those that it keeps */

/* Begin to measure: SHARE begins. */
void sl_pace_begin(struct sl_core *core);
/* Set `set` to the neighbours of which the fewest shares or, once all shares are here, deposits are here. */
void sl_pace_fewest(const struct sl_core *core, uint64_t *set);
/* Add the time since the last step of SHARE to the neighbours that were awaited in it. */
void sl_pace_look(struct sl_core *core);
/* Return the time at which SHARE ends since nothing arrives. */
sl_ms sl_pace_silent_at(const struct sl_core *core);
/* Note the time at which the Ready of the participant at `position` has come. */
void sl_pace_ready(struct sl_core *core, uint32_t position, sl_ms at);
/* Return the time at which READY ends, if no Ready comes. */
sl_ms sl_pace_hangs_at(const struct sl_core *core);
/* Keep in `set`, the participants whose Readys are missing, those that hang, if there are any. */
void sl_pace_hung(const struct sl_core *core, uint64_t *set);
/* Set `set` to the neighbours that hold up the others for too long; `about`: or will shortly, if nothing
 * arrives. Return true if there are any. */
bool sl_pace_slow(const struct sl_core *core, bool about, uint64_t *set);
/* Return the time at which a neighbour is too slow in SHARE, if nothing arrives before. */
sl_ms sl_pace_deadline(const struct sl_core *core);
/* Return the time at which MIX and CHECK are too slow. */
sl_ms sl_pace_mixed(const struct sl_core *core);
/* Return true if a participant, whose SHARE may have taken half as long, may wait for no more exchanges,
 * though none need be slower than in SHARE. */
bool sl_pace_had_enough(const struct sl_core *core);
/* Return how long another participant may take to send a deposit if a third one has it, too. */
sl_ms sl_pace_fetch_ms(const struct sl_core *core);
