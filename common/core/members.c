#include "common/core/members.h"

#include "common/core/emit.h"
#include "common/core/suspect.h"
#include "common/protocol/view_codec.h"

void sl_members_restore(struct sl_core *core)
{
	const struct sl_core_config *config = &core->config;
	struct sl_view view = {0};
	uint64_t p;
	size_t edges;
	bool known =
		config->last_view != NULL &&
		sl_view_read_head(config->last_view, config->last_view_bytes, &view, &p, &edges) == SL_OK;
	for (uint32_t i = 0; known && i < view.n; i++) {
		sl_id id;
		uint32_t incarnation;
		sl_view_read_member(config->last_view, i, &id, &incarnation);
		uint32_t peer = sl_core_index(core, id);
		if (peer != UINT32_MAX)
			sl_bit_set(core->members, peer);
		core->members_gone += peer == UINT32_MAX;
	}
	core->members_of = known ? view.t : 0;
	core->config.last_view = NULL; /* read */
}

void sl_members_remember(struct sl_core *core)
{
	memset(core->members, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->view.n; i++) {
		sl_bit_set(core->members, core->view.members[i]);
		sl_suspect_clear(core, core->view.members[i]);
	}
	core->members_gone = 0;
	core->members_of = core->view.t;
}

bool sl_members_took_part(const struct sl_core *core, sl_id id)
{
	uint32_t i = sl_core_index(core, id);
	return i != UINT32_MAX && core->members_of != 0 && core->members_of == core->committed &&
	       sl_bit(core->members, i);
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
