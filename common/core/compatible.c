#include "common/core/compatible.h"

#include "common/core/emit.h"

static const char *const names[SL_PARAMETER_COUNT] = {
#define X(name, key, ...) #key,
	SL_PARAMETERS(X)
#undef X
};

/* Return the first parameter that differs and must not, or SL_PARAMETER_COUNT. */
static uint32_t odd_parameter(const struct sl_core *core, const struct sl_link_record *link)
{
	const uint64_t *own = (const uint64_t *)&core->parameters;
	const uint64_t *theirs = (const uint64_t *)&link->state.parameters;
	for (uint32_t k = 0; k < SL_PARAMETER_COUNT; k++)
		if (own[k] != theirs[k] && k != SL_PARAMETER_failed && k != SL_PARAMETER_hop_bytes &&
		    k != SL_PARAMETER_initial)
			return k;
	return SL_PARAMETER_COUNT;
}

static struct sl_difference difference_of(const struct sl_core *core, const struct sl_link_record *link)
{
	const struct sl_link_state *state = &link->state;
	bool roster = memcmp(state->roster, core->config.scope.roster, SL_HASH_BYTES) != 0;
	uint32_t k = odd_parameter(core, link);
	if (roster && (k == SL_PARAMETER_COUNT || state->roster_size != core->config.roster_size))
		return (struct sl_difference){.reason = SL_REASON_ROSTER};
	if (k != SL_PARAMETER_COUNT) /* of two rosters, the setting says more than the hash */
		return (struct sl_difference){.reason = SL_REASON_PARAMETER, .parameter = k};
	bool other = state->t == core->t && memcmp(state->previous, core->previous, SL_HASH_BYTES) != 0;
	return (struct sl_difference){.reason = other ? SL_REASON_HISTORY : SL_REASON_NONE};
}

struct sl_difference sl_compatible_difference(const struct sl_core *core, const struct sl_link_record *link)
{
	if (link->twice)
		return (struct sl_difference){.reason = SL_REASON_EQUIVOCATION};
	return difference_of(core, link);
}

/* Return true if the latest link state of peer `i` is of its present start. Roster and parameters that must
 * be equal change with a start only. */
static bool up_to_date(const struct sl_core *core, uint32_t i)
{
	const struct sl_link_record *link = &core->links[i];
	return i != core->config.self && link->record.present &&
	       link->state.incarnation >= core->peers[i].incarnation;
}

bool sl_compatible_differs(const struct sl_core *core, uint32_t i)
{
	return up_to_date(core, i) && difference_of(core, &core->links[i]).reason != SL_REASON_NONE;
}

bool sl_compatible_other_model(const struct sl_core *core, uint32_t i)
{
	const struct sl_parameters *q = &core->links[i].state.parameters;
	return up_to_date(core, i) && (q->n != core->parameters.n || q->model != core->parameters.model);
}

void sl_compatible_describe(const struct sl_core *core, uint32_t i, struct sl_difference difference,
			    struct sl_report *report)
{
	const struct sl_link_state *state = &core->links[i].state;
	report->peer = i;
	report->reason = difference.reason;
	if (difference.reason == SL_REASON_PARAMETER) {
		uint32_t k = difference.parameter;
		report->why.parameter.name = names[k];
		report->why.parameter.own = ((const uint64_t *)&core->parameters)[k];
		report->why.parameter.theirs = ((const uint64_t *)&state->parameters)[k];
	} else if (difference.reason == SL_REASON_ROSTER) {
		report->why.roster.own_size = core->config.roster_size;
		report->why.roster.their_size = state->roster_size;
		memcpy(report->why.roster.own, core->config.scope.roster, SL_HASH_BYTES);
		memcpy(report->why.roster.theirs, state->roster, SL_HASH_BYTES);
	} else if (difference.reason == SL_REASON_HISTORY) {
		memcpy(report->why.history.own, core->previous, SL_HASH_BYTES);
		memcpy(report->why.history.theirs, state->previous, SL_HASH_BYTES);
	}
}

bool sl_compatible_told(struct sl_core *core, uint32_t i, struct sl_difference difference)
{
	bool lasts = difference.reason == SL_REASON_ROSTER || difference.reason == SL_REASON_PARAMETER;
	uint64_t cause = (uint64_t)difference.reason << 8 | difference.parameter;
	uint32_t when = lasts ? core->links[i].state.incarnation : core->t;
	return sl_emit_once(core, i, SL_ONCE_LEFT_OUT, cause << 32 | when);
}

void sl_compatible_report(struct sl_core *core, uint32_t i, struct sl_difference difference)
{
	if (sl_compatible_told(core, i, difference))
		sl_compatible_describe(core, i, difference, sl_emit_report(core, SL_REPORT_LEFT_OUT));
}
