#include "daemon/store/ledger.h"

/* Return true if this start has made the last charge. */
static bool is_of(const struct sl_ledger *ledger, uint32_t incarnation)
{
	return ledger->t > 0 && ledger->incarnation == incarnation;
}

uint64_t sl_ledger_gap(const struct sl_ledger *ledger, uint32_t incarnation, sl_round t)
{
	if (is_of(ledger, incarnation) || t <= ledger->t)
		return 0;
	return (ledger->t > 0 && !ledger->settled) + (uint64_t)(t - ledger->t - 1);
}

static void move_on(struct sl_ledger *ledger, sl_round t, sl_attempt a)
{
	ledger->t = t;
	ledger->a = a;
	ledger->settled = false;
}

void sl_ledger_charge(struct sl_ledger *ledger, uint32_t incarnation, sl_round t, sl_attempt a,
		      const struct sl_dp_round *round)
{
	uint64_t guessed = sl_ledger_gap(ledger, incarnation, t);
	sl_dp_charge(&ledger->spent, round, guessed + 1);
	ledger->charges += guessed + 1;
	ledger->guessed += guessed;
	ledger->incarnation = incarnation;
	move_on(ledger, t, a);
}

bool sl_ledger_pass(struct sl_ledger *ledger, uint32_t incarnation, sl_round t, sl_attempt a)
{
	if (!is_of(ledger, incarnation) || t <= ledger->t)
		return false;
	move_on(ledger, t, a);
	return true;
}
