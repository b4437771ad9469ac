#include "common/core/members.h"

#include "common/core/emit.h"

void sl_members_take(struct sl_core *core)
{
	const struct sl_round_head *round = core->last.certificate.round;
	memset(core->members, 0, sl_core_set_bytes(core));
	core->members_gone = 0;
	core->members_of = core->last.certificate.t;
	for (uint32_t i = 0; core->members_of != 0 && i < sl_round_learners(round); i++) {
		uint32_t peer = sl_core_index(core, round->members[2 * i]);
		if (peer != UINT32_MAX)
			sl_bit_set(core->members, peer);
		core->members_gone += peer == UINT32_MAX;
	}
}

/* Return true if the change in core->changed has been reported in this round; else note that it is. */
static bool reported(struct sl_core *core)
{
	bool same = core->told_change == core->t &&
		    memcmp(core->changed, core->changed_told, sl_core_set_bytes(core)) == 0;
	core->told_change = core->t;
	memcpy(core->changed_told, core->changed, sl_core_set_bytes(core));
	return same;
}

bool sl_members_few_changed(struct sl_core *core)
{
	uint32_t came = 0, left = core->members_gone;
	memset(core->changed, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; core->members_of != 0 && i < core->config.roster_size; i++) {
		bool now = core->view.position[i] != UINT32_MAX, then = sl_bit(core->members, i);
		came += now && !then;
		left += then && !now;
		if (now != then)
			sl_bit_set(core->changed, i);
	}
	if (came + left == 0 || came + left >= core->view.agreed.tolerance + 2)
		return false;
	if (reported(core))
		return true;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_PRIVACY);
	report->set = core->changed;
	report->privacy.since = core->members_of;
	report->privacy.came = came;
	report->privacy.left = left;
	report->privacy.tolerance = core->view.agreed.tolerance;
	return true;
}
