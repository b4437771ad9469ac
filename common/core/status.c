/* What the shell may show of the state: nothing here changes it. */
#include "common/core/agree.h"
#include "common/core/pace.h"

static sl_ms waits_since(const struct sl_core *core)
{
	sl_ms progress = core->phase == SL_PHASE_CATCHUP ? core->catchup.progress
			 : core->phase == SL_PHASE_DISCOVER || core->phase == SL_PHASE_READY
				 ? 0
				 : core->at.progress;
	return progress > core->since ? progress : core->since;
}

/* Return the time after which the present phase has waited too long. Training, arithmetic and the disk may
 * take any time. */
static sl_ms deadline(const struct sl_core *core)
{
	const struct sl_core_config *config = &core->config;
	switch (core->phase) {
	case SL_PHASE_DISCOVER:
		return core->since + config->straggler_timeout_ms;
	case SL_PHASE_AGREE:
		return sl_agree_deadline(core);
	case SL_PHASE_READY:
		return sl_pace_hangs_at(core);
	case SL_PHASE_SHARE:
		return sl_pace_silent_at(core);
	case SL_PHASE_MIX:
	case SL_PHASE_CHECK:
	case SL_PHASE_CONFIRM:
	case SL_PHASE_RECOVER:
		return core->at.progress + config->stall_timeout_ms;
	case SL_PHASE_CATCHUP:
		return core->catchup.progress + config->stall_timeout_ms;
	default:
		return SL_NEVER;
	}
}

void sl_core_status(const struct sl_core *core, struct sl_core_status *status)
{
	*status = (struct sl_core_status){.t = core->t,
					  .committed = core->committed,
					  .rounds = core->rounds,
					  .a = core->a,
					  .since = core->since,
					  .waits_since = waits_since(core),
					  .deadline = deadline(core),
					  .phase = core->phase,
					  .over = core->over,
					  .atom = core->atom};
	memcpy(status->digest, core->previous, sizeof status->digest);
	if (!core->view_checked)
		return;
	status->learners = core->view.n;
	status->engine = core->view.engine;
	status->steps = core->view.steps;
	if (core->phases[core->phase].permille != NULL)
		status->permille = core->phases[core->phase].permille(core);
}

enum sl_wait sl_core_awaits(const struct sl_core *core, uint64_t *set)
{
	const struct sl_phase_row *row = &core->phases[core->phase];
	memset(set, 0, sl_core_set_bytes(core));
	if (core->t == 0 || core->stopped)
		return SL_WAIT_NOTHING;
	enum sl_wait wait = row->awaits != NULL ? row->awaits(core, set) : SL_WAIT_DISK;
	sl_bit_clear(set, core->config.self);
	return wait;
}

/* A participant that is not in range here may well be linked to others. */
bool sl_core_tolerates(const struct sl_core *core, uint32_t *losses)
{
	uint64_t lost[(SL_LEARNERS_MAX + 63) / 64];
	if (!core->view_checked)
		return false;
	for (size_t w = 0; w < sl_core_words(core); w++)
		lost[w] = core->near[w] & ~core->linked[w];
	*losses = sl_view_tolerates(&core->view, lost);
	return true;
}

void sl_core_peer(const struct sl_core *core, uint32_t index, struct sl_core_peer *peer)
{
	const struct sl_peer *p = &core->peers[index];
	*peer = (struct sl_core_peer){.linked = sl_bit(core->linked, index),
				      .in_range = sl_bit(core->range, index),
				      .heard = p->t != 0,
				      .t = p->t,
				      .a = p->a,
				      .status = p->status,
				      .incarnation = p->incarnation};
	if (core->view_checked)
		peer->participant = core->view.position[index] != UINT32_MAX;
	if (core->view_checked)
		peer->neighbour = sl_bit(core->view_neighbours, index);
	if (p->penalty.until >= core->t)
		peer->left_out = p->penalty.until;
}
