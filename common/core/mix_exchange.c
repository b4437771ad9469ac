/* exact and metropolis (ROUND.md §8.1 What all engines have in common): state k+1 of a chunk is computed
 * when state k of every neighbour is here. State 0 of a neighbour is here when its key is: its deposit came
 * before. States from 1 on are sent.
 *
 * SL_WINDOW chunks are under way at a time. A neighbour is at most one exchange ahead in a chunk, because its
 * next state needs this learner's present one; and it has begun at most the next SL_WINDOW chunks. So at most
 * 2 * SL_WINDOW of its states wait here, and no other credit is needed. */
#include "common/core/emit.h"
#include "common/core/mix_engine.h"

static const char *check_turn(const struct sl_core *core, const struct sl_exchange *exchange,
			      const struct sl_buffer *b)
{
	if (b->iteration != exchange->states_in[b->index] || b->iteration > core->at.iteration[b->index] + 1)
		return "a state out of turn";
	return b->iteration >= core->view.steps ? "a state after the last exchange" : NULL;
}

static const char *take(struct sl_core *core, uint32_t r, struct sl_buffer *buffer)
{
	struct sl_exchange *exchange = &core->exchange[r];
	const char *wrong = check_turn(core, exchange, buffer);
	if (wrong != NULL)
		return wrong;
	sl_mix_hold(core, exchange, buffer);
	exchange->states_in[buffer->index]++;
	if (buffer->iteration == core->at.iteration[buffer->index])
		core->at.have[buffer->index]++;
	return NULL;
}

static void state_out(struct sl_core *core, uint32_t chunk)
{
	sl_mix_send(core, core->view_neighbours, chunk, core->at.iteration[chunk]);
}

static void begin(struct sl_core *core)
{
	for (uint32_t r = 0; r < core->view.degree; r++)
		for (uint32_t m = 0; m < core->view.chunks; m++)
			core->exchange[r].states_in[m] = 1;
}

static void key(struct sl_core *core, uint32_t r)
{
	(void)r;
	for (uint32_t m = 0; m < core->view.chunks; m++) /* none is mixed before all keys are here */
		core->at.have[m]++;
}

static void start_chunks(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	while (at->started < core->view.chunks && at->started < at->base + SL_WINDOW)
		at->started++;
}

/* Start the MIX job of the chunk's present exchange, with the state of every neighbour. */
static void mix_chunk(struct sl_core *core, uint32_t chunk)
{
	struct sl_buffer *list = NULL;
	uint64_t k = core->at.iteration[chunk];
	for (uint32_t r = 0; r < core->view.degree && k > 0; r++) {
		struct sl_buffer *buffer = sl_mix_unhold(&core->exchange[r], chunk, k);
		buffer->next = list;
		list = buffer;
	}
	sl_mix_job(core, chunk, k, list);
}

static void step(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	start_chunks(core);
	for (uint32_t m = at->base; m < at->started; m++)
		if (!at->busy[m] && at->iteration[m] < core->view.steps && at->have[m] == core->view.degree)
			mix_chunk(core, m);
}

static void result(struct sl_core *core, uint32_t m)
{
	struct sl_attempt_state *at = &core->at;
	at->iteration[m]++;
	at->mixed++;
	at->have[m] = 0;
	for (uint32_t r = 0; r < core->view.degree; r++)
		at->have[m] += sl_mix_is_held(&core->exchange[r], m, at->iteration[m]);
	if (at->iteration[m] < core->view.steps)
		state_out(core, m);
	else
		sl_mix_finish(core, m, core->view.steps);
}

static bool awaits(const struct sl_core *core, uint32_t m, uint32_t r)
{
	if (core->at.iteration[m] == 0)
		return !sl_core_has(core->at.known, core->view.neighbours[r]);
	return core->exchange[r].states_in[m] <= core->at.iteration[m];
}

const struct sl_mix_row sl_mix_exchange = {
	.begin = begin,
	.key = key,
	.take = take,
	.step = step,
	.result = result,
	.awaits = awaits,
	.free_iteration = UINT64_MAX,
};
