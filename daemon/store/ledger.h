/* ledger.h - what a learner has spent of its privacy budget (setting `dp`): one row of the store.
 *
 * Each attempt for which PREPARED is recorded with a weight other than 0 is charged, in the same transaction.
 * Before the own Ready nothing of it can be seen. After it, an attempt that fails may have been seen all the
 * same. Nothing is taken back. Epsilon is computed from the row, and is not on record.
 *
 * The gap. A folder may be emptied, restored from a backup or set back with its disk. It then has no record
 * of the last charges. A start follows each of these. So the first charge of a start also charges, once each:
 *   - the rounds after the last charge and before this one;
 *   - in a later round, another attempt of the round of the last charge, unless the charged attempt is on
 *     record as the one that committed that round.
 * Rounds in which the start that made the last charge has sent zeros are none of these: it moves the row on.
 * Earlier attempts of the present round need no charge: a learner that has forgotten its Ready in one of them
 * is shown it, and abstains from the round (GROUP.md §12.4 Disks that forget).
 */
#pragma once

#include <stdbool.h>

#include "common/base/err.h"
#include "common/base/types.h"
#include "common/dp/accountant.h"

struct sl_ledger {
	sl_round t; /* of the last charge, or of zeros after it; 0: nothing was charged */
	sl_attempt a;
	uint32_t incarnation; /* of the start that made it */
	uint64_t charges;     /* in all */
	uint64_t guessed;     /* of them, for the gap */
	struct sl_dp_spent spent;
	bool settled; /* the attempt of the last charge committed its round; found in the rounds on record,
			 not in the row */
};

/* Return the number of charges that the gap adds to that of an attempt of round t. */
uint64_t sl_ledger_gap(const struct sl_ledger *ledger, uint32_t incarnation, sl_round t);
/* Charge attempt a of round t, which costs `round`, and the gap before it at the same price. */
void sl_ledger_charge(struct sl_ledger *ledger, uint32_t incarnation, sl_round t, sl_attempt a,
		      const struct sl_dp_round *round);
/* Attempt a of round t costs nothing. Move the row on to it, and return true, if this start has made the last
 * charge, and so knows that it charged nothing since. */
bool sl_ledger_pass(struct sl_ledger *ledger, uint32_t incarnation, sl_round t, sl_attempt a);
