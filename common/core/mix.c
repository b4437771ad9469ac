/* The iterations of metropolis and exact (protocol 7), chunk by chunk: a chunk's k+1 is computed when every
 * neighbour's k is here.
 *
 * SL_WINDOW chunks are under way at a time. A neighbour can be at most one iteration ahead in a chunk,
 * because its next one needs this learner's present one; and it can have begun the next SL_WINDOW chunks at
 * most. So it never has more than 2 * SL_WINDOW states waiting here, and no other credit is needed. */
#include "common/core/state.h"

struct sl_buffer *sl_mix_unhold(struct sl_exchange *exchange, uint32_t chunk, uint64_t iteration)
{
	struct sl_buffer **p = &exchange->held, *found;
	while ((found = *p) != NULL && (found->index != chunk || found->iteration != iteration))
		p = &found->next;
	if (found == NULL)
		return NULL;
	*p = found->next;
	exchange->held_count--;
	return found;
}

static bool is_held(const struct sl_exchange *exchange, uint32_t chunk, uint64_t iteration)
{
	const struct sl_buffer *b = exchange->held;
	while (b != NULL && (b->index != chunk || b->iteration != iteration))
		b = b->next;
	return b != NULL;
}

static bool by_tree(const struct sl_core *core)
{
	return core->view.engine == SL_ENGINE_TREE;
}

static bool of_its_size(const struct sl_core *core, const struct sl_buffer *b)
{
	return b->size == sl_view_chunk_elements(&core->view, b->index) * sl_view_mixing_width(&core->view);
}

bool sl_mix_first(const struct sl_core *core, const struct sl_buffer *b)
{
	return b->iteration == 0 && b->index < core->view.chunks && of_its_size(core, b);
}

static const char *check_turn(const struct sl_core *core, const struct sl_exchange *exchange,
			      const struct sl_buffer *b)
{
	if (b->iteration != exchange->states_in[b->index] || b->iteration > core->at.iteration[b->index] + 1)
		return "a state out of turn";
	return b->iteration >= core->view.steps ? "a state after the last iteration" : NULL;
}

void sl_mix_hold(struct sl_core *core, struct sl_exchange *exchange, struct sl_buffer *buffer)
{
	buffer->next = exchange->held;
	exchange->held = buffer;
	exchange->held_count++;
	core->at.progress = core->now;
}

static const char *take_turn(struct sl_core *core, struct sl_exchange *exchange, struct sl_buffer *buffer)
{
	const char *wrong = check_turn(core, exchange, buffer);
	if (wrong != NULL)
		return wrong;
	sl_mix_hold(core, exchange, buffer);
	exchange->states_in[buffer->index]++;
	if (buffer->iteration == core->at.iteration[buffer->index])
		core->at.have[buffer->index]++;
	return NULL;
}

/* Of neighbour r. */
static const char *take(struct sl_core *core, uint32_t r, struct sl_buffer *b)
{
	if (b->index >= core->view.chunks || b->index >= core->at.base + 2 * sl_view_window(&core->view))
		return "a state of a chunk that is not due";
	if (!of_its_size(core, b))
		return "a state of the wrong size";
	return by_tree(core) ? sl_mix_tree_take(core, r, b) : take_turn(core, &core->exchange[r], b);
}

/* Holds the chunk until its turn. Before this learner's own release it is held unread: the engine may not be
 * known. */
void sl_mix_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	bool due = core->phase >= SL_PHASE_READY && core->phase <= SL_PHASE_MIX &&
		   memcmp(buffer->view, core->view.h, SL_HASH_BYTES) == 0;
	int r = due ? sl_view_neighbour(&core->view, peer) : -1;
	bool full =
		r >= 0 && core->exchange[r].held_count >= 2 * sl_engine_tree_window(core->view.costs.depth);
	const char *wrong = NULL;
	buffer->from = (uint32_t)r;
	due &= !(full &&
		 core->at.resumed); /* there has been no survey: more than is expected here may be in order */
	if (due && r < 0)
		wrong = "a state from somebody who is not a neighbour in this view";
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
	sl_mix_tree_backup(core);
}

/* What one neighbour sent before this learner's release. What is wrong goes to `bad`. */
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
		if (*bad == NULL) /* one complaint is enough: a step has room for SL_ACTIONS_MAX actions */
			sl_emit_reject(core, sl_view_peer(&core->view, r), wrong);
		buffer->next = *bad;
		*bad = buffer;
	}
}

void sl_mix_enter(struct sl_core *core)
{
	struct sl_buffer *bad = NULL;
	if (by_tree(core))
		sl_mix_tree_enter(core);
	for (uint32_t r = 0; r < core->view.degree; r++)
		take_early(core, r, &bad);
	sl_mix_tree_backup(core);
	if (bad != NULL)
		sl_emit(core, SL_ACTION_DROP)->buffers = bad;
}

void sl_mix_send(struct sl_core *core, const uint64_t *to, uint32_t chunk, uint64_t iteration)
{
	struct sl_message message = {.kind = SL_MSG_STATE};
	message.chunk.t = core->t;
	message.chunk.a = core->a;
	memcpy(message.chunk.view, core->view.h, SL_HASH_BYTES);
	message.chunk.iteration = iteration;
	message.chunk.index = chunk;
	message.chunk.size = sl_view_chunk_elements(&core->view, chunk) * sl_view_mixing_width(&core->view);
	sl_emit_send(core, to, &message, true);
}

static void state_out(struct sl_core *core, uint32_t chunk)
{
	sl_mix_send(core, core->view_neighbours, chunk, core->at.iteration[chunk]);
}

static void start_chunks(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	while (at->started < core->view.chunks && at->started < at->base + SL_WINDOW)
		state_out(core, at->started++);
}

/* All neighbours' states of this chunk's k, out of the held lists, for one MIX job. */
static void mix_chunk(struct sl_core *core, uint32_t chunk)
{
	struct sl_buffer *list = NULL;
	for (uint32_t r = 0; r < core->view.degree; r++) {
		struct sl_buffer *buffer =
			sl_mix_unhold(&core->exchange[r], chunk, core->at.iteration[chunk]);
		buffer->next = list;
		list = buffer;
	}
	core->at.busy[chunk] = true;
	sl_emit_job(core, SL_JOB_MIX, chunk, list);
}

static void iterate(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	start_chunks(core);
	for (uint32_t m = at->base; m < at->started; m++)
		if (!at->busy[m] && at->iteration[m] < core->view.steps && at->have[m] == core->view.degree)
			mix_chunk(core, m);
}

static void iterated(struct sl_core *core, uint32_t m)
{
	struct sl_attempt_state *at = &core->at;
	at->iteration[m]++;
	at->mixed++;
	at->have[m] = 0;
	for (uint32_t r = 0; r < core->view.degree; r++)
		at->have[m] += is_held(&core->exchange[r], m, at->iteration[m]);
	if (at->iteration[m] < core->view.steps) {
		state_out(core, m);
		return;
	}
	at->finished++;
	while (at->base < core->view.chunks && at->iteration[at->base] == core->view.steps)
		at->base++;
}

static bool awaits(const struct sl_core *core, uint32_t m, uint32_t r)
{
	return by_tree(core) ? sl_mix_tree_awaits(core, m, r)
			     : core->exchange[r].states_in[m] <= core->at.iteration[m];
}

static bool stalled(struct sl_core *core)
{
	if (core->jobs > 0 || core->now < core->at.progress + core->config.stall_timeout_ms)
		return false;
	memset(core->missing, 0, sl_core_set_bytes(core));
	for (uint32_t m = core->at.base; m < core->at.started; m++)
		for (uint32_t r = 0; r < core->view.degree; r++)
			if (awaits(core, m, r))
				sl_bit_set(core->missing, sl_view_peer(&core->view, r));
	sl_attempt_fail(core, SL_REASON_STALLED, false)->set = core->missing;
	return true;
}

bool sl_mix_advance(struct sl_core *core)
{
	if (by_tree(core))
		sl_mix_tree_advance(core);
	else
		iterate(core);
	if (core->at.finished == core->view.chunks) {
		sl_emit_job(core, SL_JOB_CLOSE, 0, NULL);
		sl_attempt_move(core, SL_PHASE_CONFIRM);
		return true;
	}
	return stalled(core);
}

void sl_mix_result(struct sl_core *core, const struct sl_job_result *result)
{
	if (result->code != SL_OK) {
		sl_attempt_fail(core, SL_REASON_BAD_STATE, true)->peer =
			sl_view_peer(&core->view, result->from);
		return;
	}
	core->at.busy[result->chunk] = false;
	core->at.progress = core->now;
	if (by_tree(core))
		sl_mix_tree_result(core, result->chunk);
	else
		iterated(core, result->chunk);
}
