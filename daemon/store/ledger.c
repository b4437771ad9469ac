#include "daemon/store/ledger.h"

uint64_t sl_ledger_gap(const struct sl_ledger *ledger, uint32_t incarnation, sl_round t)
{
	bool same_start = ledger->t > 0 && ledger->incarnation == incarnation;
	if (same_start || t <= ledger->t)
		return 0;
	return (ledger->t > 0 && !ledger->settled) + (uint64_t)(t - ledger->t - 1);
}

void sl_ledger_charge(struct sl_ledger *ledger, uint32_t incarnation, sl_round t, sl_attempt a,
		      const struct sl_dp_round *round)
{
	uint64_t guessed = sl_ledger_gap(ledger, incarnation, t);
	sl_dp_charge(&ledger->spent, round, guessed + 1);
	ledger->charges += guessed + 1;
	ledger->guessed += guessed;
	ledger->incarnation = incarnation;
	ledger->t = t;
	ledger->a = a;
	ledger->settled = false;
}
