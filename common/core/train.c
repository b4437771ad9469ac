#include "common/core/train.h"

#include "common/core/aborts.h"
#include "common/core/allowance.h"
#include "common/core/discover.h"
#include "common/core/emit.h"
#include "common/core/move.h"

void sl_train_begin(struct sl_core *core)
{
	core->trained = core->failing = false;
	struct sl_action *action = sl_emit(core, SL_ACTION_TRAIN);
	action->train.t = core->t;
	action->train.draw = core->draws++;
	sl_emit_hello(core, core->linked);
}

void sl_train_round(struct sl_core *core)
{
	core->t = core->committed + 1;
	core->a = 1;
	core->parameters.failed = 0;
	core->seen = 0;
	core->pending_abort = 0;
	core->refusals = 0;
	core->begun_at = SL_NEVER;
	core->not_before = 0;
	core->full_graph = false;
	core->reach_stale = true; /* the overlay is another one */
	sl_aborts_forget(core);
	sl_allowance_fill(core);
	core->abstains = core->abstains < core->t ? 0 : core->abstains;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		const struct sl_link_state *ls = &core->links[i].state;
		if (core->links[i].record.present)
			sl_allowance_claim(core, i, ls);
	}
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		const struct sl_link_state *ls = &core->links[i].state;
		if (core->links[i].record.present && ls->t == core->t && sl_allowance_jumps(core, i, ls->a))
			core->links[i].record.present = false;
		if (core->links[i].record.present && ls->t == core->t && ls->a > core->seen)
			core->seen = ls->a;
	}
}

void sl_train_enter(struct sl_core *core)
{
	enum sl_phase from = core->before;
	bool next_round = from == SL_PHASE_COMMIT || from == SL_PHASE_CATCHUP || from == SL_PHASE_DONE;
	if (next_round) {
		sl_train_round(core);
		sl_discover_ahead(core);
	}
	sl_train_begin(core);
}

enum sl_wait sl_train_awaits(const struct sl_core *core, uint64_t *set)
{
	(void)core;
	(void)set;
	return SL_WAIT_TRAINING;
}

/* State the initial model, while updates are from it. */
static void state_initial(struct sl_core *core)
{
	bool common = core->committed == 0 && !core->without_initial;
	core->parameters.initial = common ? core->config.parameters.initial : 0;
}

void sl_train_without_initial(struct sl_core *core)
{
	core->without_initial = true;
	state_initial(core);
}

void sl_train_done(struct sl_core *core, bool far)
{
	core->without_initial |= far;
	state_initial(core);
	core->failing = false;
	core->trained = true;
	core->trained_at = core->now;
	sl_move_to(core, SL_PHASE_DISCOVER);
}
