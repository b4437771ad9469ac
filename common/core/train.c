#include "common/core/train.h"

#include <math.h>

#include "common/core/aborts.h"
#include "common/core/allowance.h"
#include "common/core/attempt_number.h"
#include "common/core/discover.h"
#include "common/core/emit.h"
#include "common/core/move.h"

#define GROWTH_MOST 1024 /* of the largest value from a committed round to the next: more is reported */

void sl_train_begin(struct sl_core *core)
{
	core->trained = false;
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
		core->peers[i].claimed = 0;
		if (core->links[i].record.present)
			sl_attempt_number_claim(core, i, ls);
	}
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		const struct sl_link_state *ls = &core->links[i].state;
		if (core->links[i].record.present && ls->t == core->t &&
		    sl_attempt_number_jumps(core, i, ls->a))
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

static double double_of(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

/* More bits than the setting while ranges are those of a model, .. */
#define FRESH_ROUNDS 2u
#define FRESH_BITS 18u
/* .. and while they are known roughly. */
#define EARLY_ROUNDS 4u
#define EARLY_BITS 6u

static uint64_t more_bits(sl_round committed)
{
	return committed < FRESH_ROUNDS ? FRESH_BITS : committed < EARLY_ROUNDS ? EARLY_BITS : 0;
}

/* Choose the parameters that are auto for the trained model (PROTOCOL.md §4.8 Precision). Of updates of a
 * committed model nothing is told: their ranges are in its result. */
static void set_precision(struct sl_core *core, const struct sl_need *need)
{
	const struct sl_parameters *set = &core->config.parameters;
	bool common = core->committed == 0 && !core->without_initial && !need->far;
	core->parameters.initial = common ? set->initial : 0;
	if (set->values == SL_VALUES_UPDATE && (core->committed > 0 || core->parameters.initial != 0)) {
		double unused = 1;
		uint64_t bits = set->update_bits + (set->p == 0 ? more_bits(core->committed) : 0);
		core->parameters.decimals = 0;
		core->parameters.update_bits = bits < SL_UPDATE_BITS_MAX ? bits : SL_UPDATE_BITS_MAX;
		memcpy(&core->parameters.clipping_range, &unused, sizeof unused);
		return;
	}
	struct sl_precision own = {(enum sl_values)set->values, (uint32_t)set->decimals,
				   (uint32_t)set->update_bits, double_of(set->clipping_range),
				   core->committed == 0 &&
					   set->p == 0 /* a modulus has room for the setting */};
	const struct sl_certificate *last = &core->last.certificate;
	double before = core->committed > 0 && last->t == core->committed &&
					last->round->parameters.values == set->values
				? double_of(last->round->parameters.clipping_range)
				: (double)INFINITY;
	if (own.clipping_range == SL_CLIPPING_RANGE_AUTO && need->range > GROWTH_MOST * before)
		sl_emit_report(core, SL_REPORT_GROWN)->grown.factor = need->range / before;
	sl_precision_fit(&own, need);
	core->parameters.decimals = own.decimals;
	core->parameters.update_bits = own.update_bits;
	memcpy(&core->parameters.clipping_range, &own.clipping_range, sizeof own.clipping_range);
}

void sl_train_without_initial(struct sl_core *core)
{
	core->without_initial = true;
	set_precision(core, &core->need);
}

void sl_train_done(struct sl_core *core, const struct sl_need *need)
{
	core->need = *need;
	set_precision(core, need);
	core->trained = true;
	core->trained_at = core->now;
	sl_move_to(core, SL_PHASE_DISCOVER);
}
