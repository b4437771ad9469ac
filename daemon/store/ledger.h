/* ledger.h - what a learner has spent of its privacy (setting `dp`): one row of the store.
 *
 * Each attempt is charged for which PREPARED is recorded with a weight other than 0, in the same transaction.
 * Before the own Ready nothing can be seen; after it, the attempt may end without a commit and be seen all
 * the same. Nothing is taken back. Epsilon is computed from the row, and not on record.
 *
 * The gap. A folder may be emptied, restored from a backup or set back with its disk, and then has no record
 * of charges that were made. Each of these is followed by a start. So the first charge of a start also
 * charges what this learner cannot show that it did not do, as one charge each: the rounds after the last
 * charge and before this one; the attempts of this round before this one that are later than the last charge;
 * and, in a later round, another attempt of the round of the last charge, unless that charge is of the
 * attempt which committed it.
 */
#pragma once

#include <stdbool.h>

#include "common/base/err.h"
#include "common/base/types.h"
#include "common/dp/accountant.h"

struct sl_ledger {
	sl_round t; /* of the last charge; 0: nothing was charged */
	sl_attempt a;
	uint32_t incarnation; /* of the start that made it */
	uint64_t charges;     /* in all */
	uint64_t guessed;     /* of them, by the rule of the gap */
	struct sl_dp_spent spent;
	bool settled; /* the last charge is of the attempt that committed its round: the rounds on record
			 tell, not the row */
};

/* Return the number of charges that the gap adds to that of attempt a of round t. */
uint64_t sl_ledger_gap(const struct sl_ledger *ledger, uint32_t incarnation, sl_round t, sl_attempt a);
/* Charge attempt a of round t, which is like `round`, with the gap before it. */
void sl_ledger_charge(struct sl_ledger *ledger, uint32_t incarnation, sl_round t, sl_attempt a,
		      const struct sl_dp_round *round);
