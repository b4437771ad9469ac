#include "common/core/emit.h"

#include <assert.h>

uint64_t *sl_emit_set(struct sl_core *core)
{
	assert(core->step_used < SL_STEP_SETS);
	uint64_t *set = core->step_sets + core->step_used++ * sl_core_words(core);
	memset(set, 0, sl_core_set_bytes(core));
	return set;
}

uint64_t *sl_emit_only(struct sl_core *core, uint32_t peer)
{
	uint64_t *set = sl_emit_set(core);
	sl_bit_set(set, peer);
	return set;
}

struct sl_action *sl_emit(struct sl_core *core, enum sl_action_kind kind)
{
	assert(core->out->count < SL_ACTIONS_MAX);
	struct sl_action *action = &core->out->items[core->out->count++];
	memset(action, 0, sizeof *action);
	action->kind = kind;
	return action;
}

struct sl_report *sl_emit_report(struct sl_core *core, enum sl_report_kind kind)
{
	struct sl_report *report = &sl_emit(core, SL_ACTION_REPORT)->report;
	report->kind = kind;
	report->phase = core->phase;
	report->t = core->t;
	report->a = core->a;
	return report;
}

struct sl_job *sl_emit_job_on(struct sl_core *core, enum sl_job_kind kind, uint32_t chunk,
			      const struct sl_view *view)
{
	struct sl_action *action = sl_emit(core, SL_ACTION_COMPUTE);
	action->job = (struct sl_job){.kind = kind, .epoch = core->epoch, .chunk = chunk, .view = view};
	core->jobs++;
	return &action->job;
}

void sl_emit_job(struct sl_core *core, enum sl_job_kind kind, uint32_t chunk, struct sl_buffer *buffers)
{
	sl_emit_job_on(core, kind, chunk, &core->view)->buffers = buffers;
}

struct sl_persist *sl_emit_persist(struct sl_core *core, enum sl_persist_kind kind, sl_attempt a)
{
	struct sl_persist *persist = &sl_emit(core, SL_ACTION_PERSIST)->persist;
	persist->what = (struct sl_durable){.kind = kind, .t = core->t, .a = a};
	return persist;
}

void sl_emit_send(struct sl_core *core, const uint64_t *to, const struct sl_message *message, bool own)
{
	struct sl_action *action = sl_emit(core, SL_ACTION_SEND);
	action->send.to = to;
	action->send.message = *message;
	action->send.own = own;
}

void sl_emit_participants(struct sl_core *core, uint32_t from, uint32_t author,
			  const struct sl_message *message, bool own)
{
	uint64_t *to = sl_emit_set(core);
	for (uint32_t i = 0; i < core->view.n; i++) {
		uint32_t peer = core->view.members[i];
		if (peer != from && peer != author && sl_bit(core->linked, peer))
			sl_bit_set(to, peer);
	}
	sl_emit_send(core, to, message, own);
}

void sl_emit_chunk(struct sl_core *core, const uint64_t *to, enum sl_message_kind kind, struct sl_chunk chunk,
		   struct sl_payload payload)
{
	struct sl_message message = {.kind = kind, .chunk = chunk};
	message.chunk.t = core->t;
	message.chunk.a = core->view.a;
	memcpy(message.chunk.view, core->view.h, SL_HASH_BYTES);
	sl_emit_payload(core, to, &message, payload);
}

void sl_emit_payload(struct sl_core *core, const uint64_t *to, const struct sl_message *message,
		     struct sl_payload payload)
{
	sl_emit_send(core, to, message, true);
	core->out->items[core->out->count - 1].send.payload = payload;
}

void sl_emit_stop(struct sl_core *core, int code)
{
	sl_emit_drop_held(core);
	sl_emit(core, SL_ACTION_STOP)->code = code;
	core->stopped = true;
}

void sl_emit_reject(struct sl_core *core, uint32_t peer, const char *why)
{
	struct sl_report *report = sl_emit_report(core, SL_REPORT_REJECTED);
	report->peer = peer;
	report->rejected.text = why;
}

void sl_emit_drop(struct sl_core *core, struct sl_buffer *buffer)
{
	buffer->next = NULL;
	sl_emit(core, SL_ACTION_DROP)->buffers = buffer;
}

static void splice(struct sl_buffer **list, struct sl_buffer **all)
{
	while (*list != NULL) {
		struct sl_buffer *b = *list;
		*list = b->next;
		b->next = *all;
		*all = b;
	}
}

struct sl_buffer *sl_core_held(struct sl_core *core)
{
	struct sl_buffer *all = NULL;
	if (core->view_built)
		for (uint32_t r = 0; r < core->view.degree; r++) {
			splice(&core->exchange[r].held, &all);
			core->exchange[r].held_count = 0;
		}
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		splice(&core->peers[i].early, &all);
		core->peers[i].early_count = 0;
	}
	return all;
}

void sl_emit_drop_held(struct sl_core *core)
{
	struct sl_buffer *all = sl_core_held(core);
	if (all != NULL)
		sl_emit(core, SL_ACTION_DROP)->buffers = all;
}

/* Return the status for a Hello; in CATCHUP, that of the phase to which the learner goes back. */
static enum sl_peer_status status(const struct sl_core *core)
{
	enum sl_phase phase = core->phase == SL_PHASE_CATCHUP ? core->catchup.back : core->phase;
	enum sl_peer_status status = core->phases[phase].status;
	bool free = status == SL_PEER_STATUS_TRAINING || status == SL_PEER_STATUS_READY;
	if (sl_core_abstains(core) && free && phase != SL_PHASE_READY)
		return SL_PEER_STATUS_ABSTAINS;
	return status == SL_PEER_STATUS_TRAINING && core->failing ? SL_PEER_STATUS_FAILING : status;
}

void sl_emit_hello(struct sl_core *core, const uint64_t *to)
{
	struct sl_message message = {.kind = SL_MSG_HELLO};
	struct sl_hello *hello = &message.hello;
	hello->id = core->config.ids[core->config.self];
	hello->incarnation = core->config.incarnation;
	hello->t = core->t;
	hello->a = core->a;
	hello->status = status(core);
	memcpy(hello->run, core->config.scope.run, sizeof hello->run);
	memcpy(hello->roster, core->config.scope.roster, sizeof hello->roster);
	memcpy(hello->records, core->told, sizeof hello->records);
	sl_emit_send(core, to, &message, true);
}

bool sl_emit_once(struct sl_core *core, uint32_t peer, enum sl_once once, uint64_t key)
{
	uint64_t *last = &core->peers[peer].once[once], before = *last;
	*last = key;
	return key != before;
}

void sl_emit_waiting(struct sl_core *core, const uint64_t *set)
{
	if (core->now < core->report_at)
		return;
	core->report_at = core->now + SL_WAIT_REPORT_MS;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_WAITING);
	report->set = set;
	report->waiting.change = core->not_before == SL_NEVER || core->now >= core->not_before;
}
