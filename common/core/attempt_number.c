#include "common/core/attempt_number.h"

#include "common/core/allowance.h"

void sl_attempt_number_claim(struct sl_core *core, uint32_t signer, const struct sl_link_state *state)
{
	struct sl_peer *p = &core->peers[signer];
	if (state->t == core->t && state->a > p->claimed)
		p->claimed = state->a;
}

/* Return true if c+1 learners, or all others, have claimed attempt `a` or a later one. */
static bool claimed_by_enough(const struct sl_core *core, sl_attempt a)
{
	uint64_t claims = 0;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		claims += i != core->config.self && core->peers[i].claimed >= a;
	return claims > core->config.parameters.tolerance || claims + 1 >= core->config.roster_size;
}

bool sl_attempt_number_jumps(struct sl_core *core, uint32_t signer, sl_attempt a)
{
	sl_attempt known = core->seen > core->a ? core->seen : core->a;
	return a > known && !claimed_by_enough(core, a) && !sl_allowance_attempts(core, signer, a - known);
}
