#include "common/core/members.h"

void sl_members_take(struct sl_core *core)
{
	const struct sl_round_head *round = core->certificate.round;
	memset(core->members, 0, sl_core_set_bytes(core));
	core->members_gone = 0;
	core->members_of = core->certificate.t;
	for (uint32_t i = 0; core->members_of != 0 && i < sl_round_learners(round); i++) {
		uint32_t peer = sl_core_index(core, round->members[2 * i]);
		if (peer != UINT32_MAX)
			sl_bit_set(core->members, peer);
		core->members_gone += peer == UINT32_MAX;
	}
}
