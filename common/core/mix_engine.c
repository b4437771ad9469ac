#include "common/core/mix_engine.h"

#include "common/core/emit.h"

void sl_mix_hold(struct sl_core *core, struct sl_exchange *exchange, struct sl_buffer *buffer)
{
	buffer->next = exchange->held;
	exchange->held = buffer;
	exchange->held_count++;
	core->at.progress = core->now;
}

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

bool sl_mix_is_held(const struct sl_exchange *exchange, uint32_t chunk, uint64_t iteration)
{
	const struct sl_buffer *b = exchange->held;
	while (b != NULL && (b->index != chunk || b->iteration != iteration))
		b = b->next;
	return b != NULL;
}

void sl_mix_job(struct sl_core *core, uint32_t m, uint64_t iteration, struct sl_buffer *buffers)
{
	struct sl_job *job = sl_emit_job_on(core, SL_JOB_MIX, m, &core->view);
	core->at.busy[m] = true;
	job->iteration = iteration;
	job->keys = (const uint8_t(*)[SL_KEY_BYTES])core->at.keys;
	job->buffers = buffers;
}

void sl_mix_send(struct sl_core *core, const uint64_t *to, uint32_t chunk, uint64_t iteration)
{
	size_t size =
		sl_packed_bytes(sl_view_state_elements(&core->view, chunk), sl_view_mixing_bits(&core->view));
	sl_emit_chunk(core, to, SL_MSG_STATE,
		      (struct sl_chunk){.iteration = iteration, .index = chunk, .size = size},
		      (struct sl_payload){.source = SL_SOURCE_STATE});
}

void sl_mix_finish(struct sl_core *core, uint32_t m, uint64_t end)
{
	struct sl_attempt_state *at = &core->at;
	at->iteration[m] = end;
	at->finished++;
	while (at->base < core->view.state_chunks && at->iteration[at->base] == end)
		at->base++;
}
