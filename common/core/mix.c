#include "common/core/mix.h"

#include <math.h>

#include "common/core/attempt.h"
#include "common/core/emit.h"
#include "common/core/mix_engine.h"
#include "common/core/move.h"
#include "common/mixing/spectrum.h"

static const struct sl_mix_row *const engines[] = {
	[SL_ENGINE_EXACT] = &sl_mix_exchange,
	[SL_ENGINE_METROPOLIS] = &sl_mix_exchange,
	[SL_ENGINE_FOREST] = &sl_mix_forest,
};
static_assert(sizeof engines / sizeof *engines == SL_ENGINES, "the messages of each engine");

static const struct sl_mix_row *engine_of(const struct sl_core *core)
{
	return engines[core->view.engine];
}

static bool of_its_size(const struct sl_core *core, const struct sl_buffer *b)
{
	return b->size == sl_packed_bytes(sl_view_state_elements(&core->view, b->index),
					  sl_view_mixing_bits(&core->view));
}

/* Take a state of neighbour `r`. Return NULL, or why it is not acceptable. */
static const char *take(struct sl_core *core, uint32_t r, struct sl_buffer *b)
{
	uint32_t credit = core->at.base + 2 * sl_view_window(&core->view);
	bool free = b->iteration == engine_of(core)->free_iteration;
	if (b->index >= core->view.state_chunks || (!free && b->index >= credit))
		return "a state of a chunk that is not due";
	if (!of_its_size(core, b))
		return "a state of the wrong size";
	return engine_of(core)->take(core, r, b);
}

/* Before the own release a state is held unread, since the engine may not be known. */
void sl_mix_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	bool due = core->phase >= SL_PHASE_READY && core->phase <= SL_PHASE_MIX &&
		   memcmp(buffer->view, core->view.h, SL_HASH_BYTES) == 0;
	int r = due ? sl_view_neighbour(&core->view, peer) : -1;
	bool full = r >= 0 && core->exchange[r].held_count >= 2 * sl_engine_window_most(&core->view.costs);
	const char *wrong = NULL;
	buffer->from = (uint32_t)r;
	due &= !(full && core->at.resumed); /* the window of the engine is unknown: more may be in order */
	if (due && r < 0)
		wrong = "a state from a peer that is not a neighbour in this view";
	else if (due && full)
		wrong = "too many states at once";
	else if (due && core->phase == SL_PHASE_MIX)
		wrong = take(core, (uint32_t)r, buffer);
	else if (due)
		sl_mix_hold(core, &core->exchange[r], buffer);
	if (wrong != NULL)
		sl_emit_reject(core, peer, wrong);
	if (!due || wrong != NULL)
		sl_emit_drop(core, buffer);
}

/* Take what neighbour `r` sent before the own release. States that are not acceptable go to `bad`. */
static void take_early(struct sl_core *core, uint32_t r, struct sl_buffer **bad)
{
	struct sl_buffer *buffer = core->exchange[r].held, *next;
	core->exchange[r].held = NULL;
	core->exchange[r].held_count = 0;
	for (; buffer != NULL; buffer = next) {
		next = buffer->next;
		const char *wrong = take(core, r, buffer);
		if (wrong == NULL)
			continue;
		if (*bad == NULL) /* one report is enough: a step has room for SL_ACTIONS_MAX actions */
			sl_emit_reject(core, sl_view_peer(&core->view, r), wrong);
		buffer->next = *bad;
		*bad = buffer;
	}
}

/* Fail the attempt if the link to a neighbour fell before the release was durable. */
static void check_links(struct sl_core *core)
{
	for (uint32_t r = 0; r < core->view.degree; r++) {
		uint32_t peer = sl_view_peer(&core->view, r);
		if (sl_bit(core->linked, peer))
			continue;
		sl_attempt_fail_by(core, peer, SL_REASON_LINK, false);
		return;
	}
}

void sl_mix_enter(struct sl_core *core)
{
	struct sl_buffer *bad = NULL;
	engine_of(core)->begin(core);
	for (uint32_t r = 0; r < core->view.degree; r++) {
		if (sl_core_has(core->at.known, core->view.neighbours[r]))
			engine_of(core)->key(core, r);
		take_early(core, r, &bad);
	}
	if (bad != NULL)
		sl_emit(core, SL_ACTION_DROP)->buffers = bad;
	check_links(core);
}

void sl_mix_key(struct sl_core *core, uint32_t position)
{
	int r = sl_view_neighbour(&core->view, core->view.members[position]);
	if (r >= 0)
		engine_of(core)->key(core, (uint32_t)r);
}

static void find_missing(const struct sl_core *core, uint64_t *set)
{
	memset(set, 0, sl_core_set_bytes(core));
	for (uint32_t m = core->at.base; m < core->at.started; m++)
		for (uint32_t r = 0; r < core->view.degree; r++)
			if (engine_of(core)->awaits(core, m, r))
				sl_bit_set(set, sl_view_peer(&core->view, r));
}

enum sl_wait sl_mix_awaits(const struct sl_core *core, uint64_t *set)
{
	if (core->jobs > 0)
		return SL_WAIT_ARITHMETIC;
	find_missing(core, set);
	return SL_WAIT_STATES;
}

static bool stalled(struct sl_core *core)
{
	if (core->jobs > 0 || core->now < sl_attempt_ends_at(core))
		return false;
	find_missing(core, core->missing);
	sl_attempt_stalled(core);
	return true;
}

/* --- the spread of the states, for displays: nothing depends on it --- */

static void keep_spread(struct sl_core *core, const struct sl_job_result *result)
{
	const struct sl_view *view = &core->view;
	struct sl_spreads *spreads = &core->at.spreads;
	if (!sl_engine_rows[view->engine].rounds || isnan(result->real) || spreads->count == SL_SPREADS_MAX)
		return;
	uint64_t k = core->at.iteration[0];
	double bound = sl_spectrum_spread_bound(&view->graph, view->mu, view->field.p, view->fraction, k);
	spreads->points[spreads->count].exchanges = k;
	spreads->points[spreads->count].spread = result->real;
	spreads->points[spreads->count++].bound = sl_spectrum_two_digits(bound);
}

static void report_mixed(struct sl_core *core)
{
	if (core->at.spreads.count == 0)
		return;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_MIXED);
	report->mixed.exchanges = core->view.steps;
	report->mixed.spreads = &core->at.spreads;
}

bool sl_mix_advance(struct sl_core *core)
{
	if (sl_attempt_split(core))
		return true;
	engine_of(core)->step(core);
	if (core->at.finished == core->view.state_chunks) {
		report_mixed(core);
		sl_emit_job(core, SL_JOB_CLOSE, 0, NULL);
		sl_move_to(core, sl_view_partial_sums(&core->view) ? SL_PHASE_CHECK : SL_PHASE_CONFIRM);
		return true;
	}
	return stalled(core);
}

void sl_mix_result(struct sl_core *core, const struct sl_job_result *result)
{
	if (result->code != SL_OK) {
		sl_attempt_fail_by(core, sl_view_peer(&core->view, result->from), SL_REASON_BAD_STATE, true);
		return;
	}
	keep_spread(core, result);
	core->at.busy[result->chunk] = false;
	core->at.progress = core->now;
	engine_of(core)->result(core, result->chunk);
}

sl_ms sl_mix_deadline(const struct sl_core *core)
{
	return core->jobs > 0 ? SL_NEVER : sl_attempt_ends_at(core);
}

uint32_t sl_mix_permille(const struct sl_core *core)
{
	uint64_t all = core->view.steps * core->view.state_chunks;
	return all == 0 ? 0 : (uint32_t)(core->at.mixed * 1000 / all);
}
