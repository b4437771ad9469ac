#include "common/core/compatible.h"

#include "common/core/emit.h"

static bool other_model(const struct sl_core *core, const struct sl_link_state *state)
{
	return state->n != core->parameters.n || state->model != core->parameters.model;
}

static enum sl_reason difference_of(const struct sl_core *core, const struct sl_link_state *state)
{
	if (memcmp(state->roster, core->config.scope.roster, SL_HASH_BYTES) != 0)
		return SL_REASON_ROSTER;
	if (other_model(core, state) || state->values != core->parameters.values)
		return SL_REASON_OTHER_MODEL;
	bool other = state->t == core->t && memcmp(state->previous, core->previous, SL_HASH_BYTES) != 0;
	if (state->t == core->t && state->values == SL_VALUES_NOISY_UPDATE)
		other |= state->initial != core->parameters.initial;
	return other ? SL_REASON_HISTORY : SL_REASON_NONE;
}

enum sl_reason sl_compatible_difference(const struct sl_core *core, const struct sl_link_record *link)
{
	return link->twice ? SL_REASON_EQUIVOCATION : difference_of(core, &link->state);
}

/* Return true if the latest link state of peer `i` is of its present start. Roster and model change with a
 * start only. */
static bool up_to_date(const struct sl_core *core, uint32_t i)
{
	const struct sl_link_record *link = &core->links[i];
	return i != core->config.self && link->record.present &&
	       link->state.incarnation >= sl_core_incarnation(core, i);
}

bool sl_compatible_differs(const struct sl_core *core, uint32_t i)
{
	return up_to_date(core, i) && difference_of(core, &core->links[i].state) != SL_REASON_NONE;
}

bool sl_compatible_other_model(const struct sl_core *core, uint32_t i)
{
	return up_to_date(core, i) && other_model(core, &core->links[i].state);
}

void sl_compatible_describe(const struct sl_core *core, uint32_t i, enum sl_reason difference,
			    struct sl_report *report)
{
	const struct sl_link_state *state = &core->links[i].state;
	report->peer = i;
	report->reason = difference;
	if (difference == SL_REASON_OTHER_MODEL) {
		report->why.other.model = other_model(core, state);
		report->why.other.own_n = core->parameters.n;
		report->why.other.their_n = state->n;
		report->why.other.own_values = (enum sl_values)core->parameters.values;
		report->why.other.their_values = (enum sl_values)state->values;
	} else if (difference == SL_REASON_ROSTER) {
		report->why.roster.own_size = core->config.roster_size;
		report->why.roster.their_size = state->roster_size;
		memcpy(report->why.roster.own, core->config.scope.roster, SL_HASH_BYTES);
		memcpy(report->why.roster.theirs, state->roster, SL_HASH_BYTES);
	} else if (difference == SL_REASON_HISTORY) {
		memcpy(report->why.history.own, core->previous, SL_HASH_BYTES);
		memcpy(report->why.history.theirs, state->previous, SL_HASH_BYTES);
	}
}

bool sl_compatible_told(struct sl_core *core, uint32_t i, enum sl_reason difference)
{
	bool lasts = difference == SL_REASON_ROSTER || difference == SL_REASON_OTHER_MODEL;
	uint32_t when = lasts ? core->links[i].state.incarnation : core->t;
	return sl_emit_once(core, i, SL_ONCE_LEFT_OUT, (uint64_t)difference << 32 | when);
}

void sl_compatible_report(struct sl_core *core, uint32_t i, enum sl_reason difference)
{
	if (sl_compatible_told(core, i, difference))
		sl_compatible_describe(core, i, difference, sl_emit_report(core, SL_REPORT_LEFT_OUT));
}
