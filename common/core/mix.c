/* The consensus iterations (protocol 7), chunk by chunk: a chunk's k+1 is computed when every neighbour's k is here.
 *
 * SL_LANES chunks are under way at a time. A neighbour can be at most one iteration ahead in a chunk, because its next
 * one needs this learner's present one; and it can have begun the next SL_LANES chunks at most. So it never has more than
 * 2 * SL_LANES states waiting here, and no other credit is needed. */
#include "common/core/state.h"

static struct sl_buffer **find_held(struct sl_exchange *exchange, uint32_t chunk, uint64_t iteration)
{
	struct sl_buffer **p = &exchange->held;
	while (*p != NULL && ((*p)->index != chunk || (*p)->iteration != iteration))
		p = &(*p)->next;
	return p;
}

static const char *check(const struct sl_core *core, int r, const struct sl_buffer *b)
{
	if (r < 0)
		return "a state from somebody who is not a neighbour in this view";
	const struct sl_exchange *exchange = &core->exchange[r];
	if (b->index >= core->view.chunks || b->index >= core->at.base + 2 * SL_LANES)
		return "a state of a chunk that is not due";
	if (b->iteration != exchange->states_in[b->index] || b->iteration > core->at.iteration[b->index] + 1)
		return "a state out of turn";
	if (core->phase == SL_PHASE_MIX && b->iteration >= core->view.k)
		return "a state after the last iteration";
	if (exchange->held_count >= 2 * SL_LANES)
		return "too many states at once";
	if (b->size != sl_chunk_elements(&core->view, b->index) * SL_STATE_BYTES)
		return "a state of the wrong size";
	return NULL;
}

/* Holds the chunk until its turn; before this learner's own release (READY) too. */
void sl_mix_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	bool due = (core->phase == SL_PHASE_READY || core->phase == SL_PHASE_MIX) &&
		   memcmp(buffer->view, core->view.h, SL_HASH_BYTES) == 0;
	int r = due ? sl_view_neighbour(&core->view, peer) : -1;
	const char *wrong = due ? check(core, r, buffer) : NULL;
	if (!due || wrong != NULL) {
		if (wrong != NULL)
			sl_reject(core, peer, wrong);
		sl_drop(core, buffer);
		return;
	}
	struct sl_exchange *exchange = &core->exchange[r];
	buffer->from = (uint32_t)r;
	buffer->next = exchange->held;
	exchange->held = buffer;
	exchange->held_count++;
	exchange->states_in[buffer->index]++;
	if (buffer->iteration == core->at.iteration[buffer->index])
		core->at.have[buffer->index]++;
	core->at.progress = core->now;
}

static void state_out(struct sl_core *core, uint32_t chunk)
{
	struct sl_message message = {.kind = SL_MSG_STATE};
	message.chunk.t = core->t;
	message.chunk.a = core->a;
	memcpy(message.chunk.view, core->view.h, SL_HASH_BYTES);
	message.chunk.iteration = core->at.iteration[chunk];
	message.chunk.index = chunk;
	message.chunk.size = sl_chunk_elements(&core->view, chunk) * SL_STATE_BYTES;
	sl_send_neighbours(core, &message, true);
}

static void start_chunks(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	while (at->started < core->view.chunks && at->started < at->base + SL_LANES)
		state_out(core, at->started++);
}

/* All neighbours' states of this chunk's k, out of the held lists, for one MIX job. */
static void mix_chunk(struct sl_core *core, uint32_t chunk)
{
	struct sl_buffer *list = NULL;
	for (uint32_t r = 0; r < core->view.degree; r++) {
		struct sl_buffer **p = find_held(&core->exchange[r], chunk, core->at.iteration[chunk]);
		struct sl_buffer *buffer = *p;
		*p = buffer->next;
		core->exchange[r].held_count--;
		buffer->next = list;
		list = buffer;
	}
	core->at.busy[chunk] = true;
	sl_job(core, SL_JOB_MIX, chunk, list);
}

static bool stalled(struct sl_core *core)
{
	if (core->jobs > 0 || core->now < core->at.progress + core->config.stall_ms)
		return false;
	memset(core->awaited, 0, sl_set_bytes(core));
	for (uint32_t m = core->at.base; m < core->at.started; m++)
		for (uint32_t r = 0; r < core->view.degree; r++)
			if (core->exchange[r].states_in[m] <= core->at.iteration[m])
				sl_bit_set(core->awaited, sl_view_peer(&core->view, r));
	sl_fail_attempt(core, SL_REASON_STALLED, false)->set = core->blamed;
	return true;
}

bool sl_mix_advance(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	start_chunks(core);
	for (uint32_t m = at->base; m < at->started; m++)
		if (!at->busy[m] && at->iteration[m] < core->view.k && at->have[m] == core->view.degree)
			mix_chunk(core, m);
	if (at->finished == core->view.chunks) {
		sl_job(core, SL_JOB_CLOSE, 0, NULL);
		sl_move(core, SL_PHASE_SETTLE);
		return true;
	}
	return stalled(core);
}

void sl_mix_result(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_attempt_state *at = &core->at;
	uint32_t m = result->chunk;
	at->busy[m] = false;
	at->iteration[m]++;
	at->mixed++;
	at->progress = core->now;
	at->have[m] = 0;
	for (uint32_t r = 0; r < core->view.degree; r++)
		at->have[m] += *find_held(&core->exchange[r], m, at->iteration[m]) != NULL;
	if (at->iteration[m] < core->view.k) {
		state_out(core, m);
		return;
	}
	at->finished++;
	while (at->base < core->view.chunks && at->iteration[at->base] == core->view.k)
		at->base++;
}
