#include "common/core/attempt_number.h"

#define JUMP 1000u /* attempts that a round may have failed while a learner was away: some hours */

bool sl_attempt_number_far(const struct sl_core *core, sl_attempt a)
{
	return a > (core->seen > core->a ? core->seen : core->a) + JUMP;
}

bool sl_attempt_number_jumps(struct sl_core *core, uint32_t signer, const struct sl_link_state *state)
{
	uint64_t jumped_to = 0;
	if (state->t != core->t || !sl_attempt_number_far(core, state->a))
		return false;
	core->peers[signer].jumped_to = state->a;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		jumped_to += core->peers[i].jumped_to + JUMP >= state->a;
	return jumped_to <= core->config.parameters.tolerance && jumped_to + 1 < core->config.roster_size;
}
