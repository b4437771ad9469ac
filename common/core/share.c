/* Shares to the neighbours, theirs gathered; then Ready, and nothing more until everybody is (protocol 6).
 *
 * Credit is what comes back: chunk m goes out when every neighbour's chunk m - SL_LANES has come in, so that at most
 * 2 * SL_LANES chunks of a neighbour are ever under way here. */
#include "common/core/state.h"

static void early_chunks(struct sl_core *core);

void sl_share_enter(struct sl_core *core)
{
	core->at.progress = core->now;
	sl_job(core, SL_JOB_ENCODE, 0, NULL);
	early_chunks(core);
}

/* NULL: the chunk is in order; else why not. */
static const char *check(const struct sl_core *core, int r, const struct sl_buffer *buffer)
{
	if (r < 0)
		return "a share from somebody who is not a neighbour in this view";
	const struct sl_exchange *exchange = &core->exchange[r];
	if (buffer->index >= core->view.chunks || buffer->index != exchange->shares_in)
		return "a share out of order";
	if (buffer->index >= core->at.share_next + 2 * SL_LANES)
		return "a share beyond its credit";
	if (buffer->size != sl_chunk_elements(&core->view, buffer->index) * core->view.field.bytes)
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
		sl_job(core, SL_JOB_GATHER, buffer->index, buffer);
		return;
	}
	sl_reject(core, peer, wrong);
	sl_drop(core, buffer);
}

/* A neighbour that froze first may send before this learner has its view: a few chunks are kept for it. */
static void keep_early(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	struct sl_peer *p = &core->peers[peer];
	if (p->early_count >= 2 * SL_LANES) {
		sl_reject(core, peer, "too many shares before the view is closed");
		sl_drop(core, buffer);
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
			sl_reject(core, peer, wrong);
		push(ours && wrong == NULL ? good : bad, buffer);
		buffer = next;
	}
}

/* A hundred neighbours may each have sent eight: one job and one drop for all, and one complaint, since a step has room
 * for SL_ACTIONS_MAX actions and not for what peers please to send. */
static void early_chunks(struct sl_core *core)
{
	struct sl_buffer *good = NULL, *bad = NULL;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		early_of(core, i, &good, &bad);
	if (good != NULL)
		sl_job(core, SL_JOB_GATHER, 0, good);
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
		sl_drop(core, buffer); /* of another view, or late */
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
	if (core->now < core->at.progress + core->config.stall_ms)
		return false;
	memset(core->awaited, 0, sl_set_bytes(core));
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (core->exchange[r].shares_in < core->view.chunks)
			sl_bit_set(core->awaited, sl_view_peer(&core->view, r));
	sl_fail_attempt(core, SL_REASON_STALLED, false)->set = core->blamed;
	return true;
}

bool sl_share_advance(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	uint32_t in = least_in(core);
	if (at->encoded && !at->share_busy && at->share_next < core->view.chunks && at->share_next < in + SL_LANES) {
		at->share_busy = true;
		sl_job(core, SL_JOB_SHARE, at->share_next, NULL);
	}
	if (at->share_next == core->view.chunks && in == core->view.chunks) {
		sl_move(core, SL_PHASE_READY);
		sl_job(core, SL_JOB_SEAL, 0, NULL);
		return true;
	}
	return core->jobs == 0 && stalled(core);
}

static void shares_out(struct sl_core *core, uint32_t chunk)
{
	struct sl_message message = {.kind = SL_MSG_SHARE};
	message.chunk.t = core->t;
	message.chunk.a = core->a;
	memcpy(message.chunk.view, core->view.h, SL_HASH_BYTES);
	message.chunk.index = chunk;
	message.chunk.size = sl_chunk_elements(&core->view, chunk) * core->view.field.bytes;
	sl_send_neighbours(core, &message, true);
	core->at.share_next++;
	core->at.share_busy = false;
}

/* A model that cannot be encoded is this learner's own fault and will not mend by itself. */
static void unfit_model(struct sl_core *core, const struct sl_job_result *result)
{
	enum sl_reason reason = result->code == SL_ERR_RANGE	 ? SL_REASON_CLIP
				: result->code == SL_ERR_REFUSED ? SL_REASON_WEIGHT
								 : SL_REASON_MODEL;
	struct sl_report *report = sl_report(core, SL_REPORT_FAILED);
	report->reason = reason;
	report->n[0] = reason == SL_REASON_WEIGHT ? result->total : result->note.index;
	report->n[1] = core->config.parameters.max_weight;
	report->real = result->note.value;
	sl_stop(core, SL_ERR_INVALID);
}

void sl_share_result(struct sl_core *core, const struct sl_job_result *result)
{
	core->at.progress = core->now;
	if (result->kind == SL_JOB_ENCODE && result->code != SL_OK) {
		unfit_model(core, result);
	} else if (result->kind == SL_JOB_ENCODE) {
		core->at.encoded = true;
		if (result->total > 0)
			sl_report(core, SL_REPORT_CLAMPED)->n[0] = result->total;
	} else if (result->kind == SL_JOB_SHARE) {
		shares_out(core, result->chunk);
	} else if (result->kind == SL_JOB_GATHER && result->code != SL_OK) {
		uint32_t peer = sl_view_peer(&core->view, result->from);
		sl_fail_attempt(core, SL_REASON_BAD_SHARE, true)->peer = peer;
	} else if (result->kind == SL_JOB_SEAL) {
		sl_flood_own_ready(core, result->hash);
	}
}

/* The barrier: nobody's masked state leaves before everybody is Ready. The largest K announced counts. */
bool sl_ready_advance(struct sl_core *core)
{
	uint64_t k = 0;
	bool all = true;
	memset(core->awaited, 0, sl_set_bytes(core));
	for (uint32_t i = 0; i < core->view.n; i++) {
		const struct sl_ready_record *rr = &core->readys[core->view.members[i]];
		bool here = rr->record.present && rr->ready.t == core->t && rr->ready.a == core->a &&
			    memcmp(rr->ready.view, core->view.h, SL_HASH_BYTES) == 0;
		if (here && rr->ready.k > 2 * core->view.k + 16) { /* from one view, K differs by a rounding at most */
			struct sl_report *report = sl_fail_attempt(core, SL_REASON_PARAMETER, true);
			report->peer = core->view.members[i];
			report->word = "K";
			report->n[0] = core->view.k;
			report->n[1] = rr->ready.k;
			return true;
		}
		if (here && rr->ready.k > k)
			k = rr->ready.k;
		if (!here) {
			all = false;
			sl_bit_set(core->awaited, core->view.members[i]);
		}
	}
	if (all && k <= SL_ITERATIONS_MAX) {
		sl_flood_pump(core); /* the own Ready may be the one just made: it goes before the state that it announces */
		if (core->flood_dirty)
			return false; /* not all of it fitted: the deadline is now */
		core->view.k = k;
		core->released = true;
		sl_move(core, SL_PHASE_RELEASE);
		sl_move(core, SL_PHASE_MIX);
		return true;
	}
	if (all || core->now >= core->since + core->config.ready_ms) {
		sl_fail_attempt(core, SL_REASON_STALLED, false)->set = core->blamed;
		return true;
	}
	sl_wait_report(core, core->awaited);
	return false;
}
