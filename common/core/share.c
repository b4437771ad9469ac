/* Chunk m of the shares goes out when every neighbour's chunk m - SL_WINDOW has come in. So at most 2 *
 * SL_WINDOW chunks of a neighbour are under way, and no other credit is needed.
 *
 * With `sharing: seeded`, one message carries all: the seeds go out first; the streams that they expand to
 * are subtracted from s while the neighbours' seeds are on their way, and theirs are added once all of them
 * are here. */
#include "common/core/share.h"

#include "common/core/attempt.h"
#include "common/core/emit.h"
#include "common/core/move.h"

static void early_chunks(struct sl_core *core);

void sl_share_enter(struct sl_core *core)
{
	core->at.progress = core->now;
	sl_emit_job(core, SL_JOB_ENCODE, 0, NULL);
	early_chunks(core);
}

/* Return NULL if the chunk is acceptable, or why not. */
static const char *check(const struct sl_core *core, int r, const struct sl_buffer *buffer)
{
	if (r < 0)
		return "a share from a peer that is not a neighbour in this view";
	const struct sl_exchange *exchange = &core->exchange[r];
	if (buffer->index >= sl_view_share_count(&core->view) || buffer->index != exchange->shares_in)
		return "a share out of order";
	if (buffer->index >= core->at.share_next + 2 * SL_WINDOW)
		return "a share beyond its credit";
	if (buffer->size != sl_view_share_bytes(&core->view, buffer->index))
		return "a share of the wrong size";
	return NULL;
}

/* Count the chunk as received; the caller gives it to a GATHER job. Return NULL, or why it is not acceptable.
 */
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

/* Keep a chunk of a peer that may have agreed on the view first. */
static void keep_early(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	struct sl_peer *p = &core->peers[peer];
	if (p->early_count >= 2 * SL_WINDOW) {
		sl_emit_reject(core, peer, "too many shares before the view is complete");
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

/* Take the chunks that were kept: one job and one drop for all and one report for each peer, since a step has
 * room for SL_ACTIONS_MAX actions. */
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

/* Fail the attempt if no share has come for stall_timeout. The neighbours whose shares end first are missing:
 * the others may wait for theirs. */
static bool stalled(struct sl_core *core)
{
	uint32_t least = least_in(core);
	if (core->now < core->at.progress + core->config.stall_timeout_ms)
		return false;
	memset(core->missing, 0, sl_core_set_bytes(core));
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (least < sl_view_share_count(&core->view) && core->exchange[r].shares_in == least)
			sl_bit_set(core->missing, sl_view_peer(&core->view, r));
	sl_attempt_fail(core, SL_REASON_STALLED, false)->set = core->failed;
	return true;
}

static bool seeded(const struct sl_core *core)
{
	return core->view.sharing == SL_SHARING_SEEDED;
}

/* Start the next job. There is one at a time, since its rows are sent before the next job overwrites them. */
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
		sl_move_to(core, SL_PHASE_READY);
		return true;
	}
	return core->jobs == 0 && stalled(core);
}

static void shares_out(struct sl_core *core, uint32_t m)
{
	sl_emit_chunk(core, core->view_neighbours, SL_MSG_SHARE,
		      (struct sl_chunk){.index = m, .size = sl_view_share_bytes(&core->view, m)},
		      (struct sl_payload){.source = SL_SOURCE_SHARES});
}

void sl_share_made(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_attempt_state *at = &core->at;
	uint32_t *done = result->kind == SL_JOB_SHARE ? &at->share_next : &at->expanded;
	at->progress = core->now;
	at->share_busy = false;
	*done = sl_view_share_end(&core->view, result->chunk);
	if (!seeded(core))
		shares_out(core, result->chunk);
}

/* Stop: the own model cannot be encoded, and another attempt would fail alike. */
static void unfit_model(struct sl_core *core, const struct sl_job_result *result)
{
	enum sl_reason reason = result->code == SL_ERR_RANGE	 ? SL_REASON_CLIP
				: result->code == SL_ERR_REFUSED ? SL_REASON_WEIGHT
								 : SL_REASON_MODEL;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_FAILED);
	report->reason = reason;
	if (reason == SL_REASON_WEIGHT) {
		report->why.weight.weight = result->total;
		report->why.weight.most = core->config.parameters.max_weight;
	} else {
		report->why.model.index = result->note.index;
		report->why.model.value = result->note.value;
		report->why.model.clipping_range = core->view.encoding.clipping_range;
	}
	sl_emit_stop(core, SL_ERR_RANGE);
}

/* Report what the decimals of the view cost the model. */
static void report_rounding(struct sl_core *core, const struct sl_job_result *result)
{
	if (core->view.encoding.kind == SL_ENCODING_PAPER)
		return; /* its errors are not measured */
	struct sl_report *report = sl_emit_report(core, SL_REPORT_ENCODED);
	report->encoded.decimals = core->view.encoding.decimals;
	report->encoded.n = core->view.agreed.n;
	report->encoded.vanished = result->note.vanished;
	report->encoded.rounding = result->note.rounding;
	report->encoded.update = result->update;
}

void sl_share_encoded(struct sl_core *core, const struct sl_job_result *result)
{
	core->at.progress = core->now;
	if (result->code != SL_OK) {
		unfit_model(core, result);
		return;
	}
	core->at.encoded = true;
	report_rounding(core, result);
	if (seeded(core))
		shares_out(core, 0);
	if (result->total == 0)
		return;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_CLAMPED);
	report->clamped.count = result->total;
	report->clamped.clipping_range = core->view.encoding.clipping_range;
}

void sl_share_gathered(struct sl_core *core, const struct sl_job_result *result)
{
	core->at.progress = core->now;
	if (result->code == SL_OK)
		return;
	uint32_t peer = sl_view_peer(&core->view, result->from);
	sl_attempt_fail(core, SL_REASON_BAD_SHARE, true)->peer = peer;
}

sl_ms sl_share_deadline(const struct sl_core *core)
{
	return core->jobs > 0 ? SL_NEVER : core->at.progress + core->config.stall_timeout_ms;
}

uint32_t sl_share_permille(const struct sl_core *core)
{
	return (uint32_t)(core->at.share_next * UINT64_C(1000) / core->view.chunks);
}
