/* Shares to the neighbours, theirs gathered (protocol 6, SHARE).
 *
 * Credit is what comes back: chunk m goes out when every neighbour's chunk m - SL_WINDOW has come in, so that
 * at most 2 * SL_WINDOW chunks of a neighbour are ever under way here.
 *
 * Of `seeded`, one message is all: the seeds go out before anything is made of them, what they stand for is
 * subtracted here while theirs are on the way, and theirs are expanded as soon as all of them are here. */
#include "common/core/state.h"

static void early_chunks(struct sl_core *core);

void sl_share_enter(struct sl_core *core)
{
	core->at.progress = core->now;
	sl_emit_job(core, SL_JOB_ENCODE, 0, NULL);
	early_chunks(core);
}

/* NULL: the chunk is in order; else why not. */
static const char *check(const struct sl_core *core, int r, const struct sl_buffer *buffer)
{
	if (r < 0)
		return "a share from somebody who is not a neighbour in this view";
	const struct sl_exchange *exchange = &core->exchange[r];
	if (buffer->index >= sl_view_share_count(&core->view) || buffer->index != exchange->shares_in)
		return "a share out of order";
	if (buffer->index >= core->at.share_next + 2 * SL_WINDOW)
		return "a share beyond its credit";
	if (buffer->size != sl_view_share_bytes(&core->view, buffer->index))
		return "a share of the wrong size";
	return NULL;
}

/* NULL: it counts as received, and the caller has a GATHER job take it. */
static const char *accept(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	int r = sl_view_neighbour(&core->view, peer);
	const char *wrong = check(core, r, buffer);
	if (wrong != NULL)
		return wrong;
	buffer->from = (uint32_t)r;
	buffer->next = NULL;
	core->exchange[r].shares_in++;
	core->at.progress = core->now;
	return NULL;
}

static void gather(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	const char *wrong = accept(core, peer, buffer);
	if (wrong == NULL) {
		sl_emit_job(core, SL_JOB_GATHER, buffer->index, buffer);
		return;
	}
	sl_emit_reject(core, peer, wrong);
	sl_emit_drop(core, buffer);
}

/* A neighbour that froze first may send before this learner has its view: a few chunks are kept for it. */
static void keep_early(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	struct sl_peer *p = &core->peers[peer];
	if (p->early_count >= 2 * SL_WINDOW) {
		sl_emit_reject(core, peer, "too many shares before the view is closed");
		sl_emit_drop(core, buffer);
		return;
	}
	struct sl_buffer **end = &p->early;
	while (*end != NULL)
		end = &(*end)->next;
	buffer->next = NULL;
	*end = buffer;
	p->early_count++;
}

static void push(struct sl_buffer **list, struct sl_buffer *buffer)
{
	buffer->next = *list;
	*list = buffer;
}

static void early_of(struct sl_core *core, uint32_t peer, struct sl_buffer **good, struct sl_buffer **bad)
{
	struct sl_buffer *buffer = core->peers[peer].early;
	core->peers[peer].early = NULL;
	core->peers[peer].early_count = 0;
	while (buffer != NULL) {
		struct sl_buffer *next = buffer->next;
		const char *wrong = NULL;
		bool ours = memcmp(buffer->view, core->view.h, SL_HASH_BYTES) == 0;
		if (ours && (wrong = accept(core, peer, buffer)) != NULL && *bad == NULL)
			sl_emit_reject(core, peer, wrong);
		push(ours && wrong == NULL ? good : bad, buffer);
		buffer = next;
	}
}

/* A hundred neighbours may each have sent eight: one job and one drop for all, and one complaint, since a
 * step has room for SL_ACTIONS_MAX actions and not for what peers please to send. */
static void early_chunks(struct sl_core *core)
{
	struct sl_buffer *good = NULL, *bad = NULL;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		early_of(core, i, &good, &bad);
	if (good != NULL)
		sl_emit_job(core, SL_JOB_GATHER, 0, good);
	if (bad != NULL)
		sl_emit(core, SL_ACTION_DROP)->buffers = bad;
}

void sl_share_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	if (core->phase < SL_PHASE_SHARE)
		keep_early(core, peer, buffer);
	else if (core->phase == SL_PHASE_SHARE && memcmp(buffer->view, core->view.h, SL_HASH_BYTES) == 0)
		gather(core, peer, buffer);
	else
		sl_emit_drop(core, buffer); /* of another view, or late */
}

static uint32_t least_in(const struct sl_core *core)
{
	uint32_t least = UINT32_MAX;
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (core->exchange[r].shares_in < least)
			least = core->exchange[r].shares_in;
	return least;
}

static bool stalled(struct sl_core *core)
{
	if (core->now < core->at.progress + core->config.stall_timeout_ms)
		return false;
	memset(core->missing, 0, sl_core_set_bytes(core));
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (core->exchange[r].shares_in < sl_view_share_count(&core->view))
			sl_bit_set(core->missing, sl_view_peer(&core->view, r));
	sl_attempt_fail(core, SL_REASON_STALLED, false)->set = core->failed;
	return true;
}

static bool seeded(const struct sl_core *core)
{
	return core->view.sharing == SL_SHARING_SEEDED;
}

/* One job at a time: what a job makes is sent before the next one takes its place. */
static void next_job(struct sl_core *core, uint32_t in)
{
	struct sl_attempt_state *at = &core->at;
	if (seeded(core) && in == 1 && at->expanded < at->share_next)
		sl_emit_job(core, SL_JOB_EXPAND, at->expanded, NULL);
	else if (at->share_next < core->view.chunks && (seeded(core) || at->share_next < in + SL_WINDOW))
		sl_emit_job(core, SL_JOB_SHARE, at->share_next, NULL);
	else
		return;
	at->share_busy = true;
}

bool sl_share_advance(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	uint32_t in = least_in(core), chunks = core->view.chunks;
	if (at->encoded && !at->share_busy)
		next_job(core, in);
	bool made = at->share_next == chunks && (!seeded(core) || at->expanded == chunks);
	if (made && in == sl_view_share_count(&core->view)) {
		sl_attempt_move(core, SL_PHASE_READY);
		sl_emit_job(core, SL_JOB_COMMITMENT, 0, NULL);
		return true;
	}
	return core->jobs == 0 && stalled(core);
}

static void shares_out(struct sl_core *core, uint32_t m)
{
	struct sl_message message = {.kind = SL_MSG_SHARE};
	message.chunk.t = core->t;
	message.chunk.a = core->a;
	memcpy(message.chunk.view, core->view.h, SL_HASH_BYTES);
	message.chunk.index = m;
	message.chunk.size = sl_view_share_bytes(&core->view, m);
	sl_emit_send_neighbours(core, &message, true);
}

/* A part of the vector is shared, or has the neighbours' seeds expanded over it. */
static void made(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_attempt_state *at = &core->at;
	uint32_t *done = result->kind == SL_JOB_SHARE ? &at->share_next : &at->expanded;
	at->share_busy = false;
	*done = sl_view_share_end(&core->view, result->chunk);
	if (!seeded(core))
		shares_out(core, result->chunk);
}

/* A model that cannot be encoded is this learner's own fault and will not mend by itself. */
static void unfit_model(struct sl_core *core, const struct sl_job_result *result)
{
	enum sl_reason reason = result->code == SL_ERR_RANGE	 ? SL_REASON_CLIP
				: result->code == SL_ERR_REFUSED ? SL_REASON_WEIGHT
								 : SL_REASON_MODEL;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_FAILED);
	report->reason = reason;
	report->n[0] = reason == SL_REASON_WEIGHT ? result->total : result->note.index;
	report->n[1] = core->config.parameters.max_weight;
	report->real = result->note.value;
	sl_emit_stop(core, SL_ERR_INVALID);
}

void sl_share_result(struct sl_core *core, const struct sl_job_result *result)
{
	core->at.progress = core->now;
	if (result->kind == SL_JOB_ENCODE && result->code != SL_OK) {
		unfit_model(core, result);
	} else if (result->kind == SL_JOB_ENCODE) {
		core->at.encoded = true;
		if (seeded(core))
			shares_out(core, 0);
		if (result->total > 0)
			sl_emit_report(core, SL_REPORT_CLAMPED)->n[0] = result->total;
	} else if (result->kind == SL_JOB_SHARE || result->kind == SL_JOB_EXPAND) {
		made(core, result);
	} else if (result->kind == SL_JOB_GATHER && result->code != SL_OK) {
		uint32_t peer = sl_view_peer(&core->view, result->from);
		sl_attempt_fail(core, SL_REASON_BAD_SHARE, true)->peer = peer;
	} else if (result->kind == SL_JOB_COMMITMENT) {
		sl_ready_commitment(core, result->hash);
	}
}
