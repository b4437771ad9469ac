#include "common/core/done.h"

#include "common/core/emit.h"

void sl_done_enter(struct sl_core *core)
{
	core->t = core->committed + 1;
	sl_emit_hello(core, core->linked);
}

bool sl_done_too_early(const struct sl_core *core)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		const struct sl_peer *p = &core->peers[i];
		count += sl_bit(core->linked, i) && p->hello && p->status != SL_PEER_STATUS_DONE &&
			 p->t >= core->t;
	}
	return count > core->config.parameters.tolerance || count + 1 == core->config.roster_size;
}

/* Return true if peer `i` may still fetch the last round from here: it is linked and has not said that it is
 * done; or it is not linked, did not say so, and was a neighbour in the round or not in it at all. (Other
 * participants have other neighbours.) */
static bool awaits_result(const struct sl_core *core, uint32_t i)
{
	const struct sl_peer *p = &core->peers[i];
	if (sl_bit(core->linked, i))
		return !p->hello || p->status != SL_PEER_STATUS_DONE;
	bool had_it = core->took_part && sl_bit(core->members, i) && !sl_bit(core->view_neighbours, i);
	return i != core->config.self && !had_it && p->status != SL_PEER_STATUS_DONE;
}

/* Stop when no peer needs the last round any more, or after the time to serve. */
bool sl_done_advance(struct sl_core *core)
{
	bool waiting = false;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		waiting |= awaits_result(core, i);
	if (!waiting || core->now >= core->since + core->config.serve_after_end_ms)
		sl_emit_stop(core, SL_OK);
	return false;
}

enum sl_wait sl_done_awaits(const struct sl_core *core, uint64_t *set)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (awaits_result(core, i))
			sl_bit_set(set, i);
	return SL_WAIT_FETCH;
}

sl_ms sl_done_deadline(const struct sl_core *core)
{
	return core->since + core->config.serve_after_end_ms;
}
