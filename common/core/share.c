/* The key shares go out first. Chunk m of the shares goes out when every neighbour's chunk m - SL_WINDOW has
 * come in. So at most 2 * SL_WINDOW chunks of a neighbour are under way, and no other credit is needed.
 *
 * With `sharing: seeded`, one message carries all: the seeds go out first; the streams that they expand to
 * are subtracted from s while the neighbours' seeds are on their way, and theirs are added once all of them
 * are here.
 *
 * A chunk of the own deposit is made when all shares of it are added. It is sent to the keepers when every
 * keeper whose deposit is kept here has sent its chunk m - SL_DEPOSIT_WINDOW. */
#include "common/core/share.h"

#include <math.h>

#include "common/core/attempt.h"
#include "common/core/deposit.h"
#include "common/core/emit.h"
#include "common/core/move.h"
#include "common/core/pace.h"
#include "common/protocol/key_tree.h"

static void early_chunks(struct sl_core *core);

void sl_share_enter(struct sl_core *core)
{
	core->at.progress = core->now;
	sl_pace_begin(core);
	memset(core->keepers, 0, sl_core_set_bytes(core));
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (sl_view_is_keeper(&core->view, r))
			sl_bit_set(core->keepers, sl_view_peer(&core->view, r));
	sl_deposit_begin(core, false);
	sl_emit_job(core, SL_JOB_ENCODE, 0, NULL);
	sl_emit_job(core, SL_JOB_SECRETS, 0, NULL);
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

/* Take the key share that neighbour `r` gives. Return NULL, or why it is not acceptable. */
static const char *take_key_share(struct sl_core *core, int r, const struct sl_buffer *buffer)
{
	if (r < 0)
		return "a key share from a peer that is not a neighbour in this view";
	struct sl_held_share *share = &core->at.secrets->shares[r];
	uint32_t holders = sl_graph_degree(&core->view.graph, core->view.neighbours[r]);
	if (share->size != 0)
		return "a second key share";
	if (buffer->size != sl_key_tree_share_bytes(holders))
		return "a key share of the wrong size";
	share->size = (uint32_t)buffer->size;
	memcpy(share->bytes, buffer->bytes, buffer->size);
	core->at.progress = core->now;
	return NULL;
}

/* Take a chunk. A share is counted as received; the caller gives it to a GATHER job. Return NULL, or why it
 * is not acceptable. */
static const char *accept(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	int r = sl_view_neighbour(&core->view, peer);
	if (buffer->kind == SL_MSG_KEY_SHARE)
		return take_key_share(core, r, buffer);
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
	if (wrong != NULL)
		sl_emit_reject(core, peer, wrong);
	if (wrong == NULL && buffer->kind == SL_MSG_SHARE)
		sl_emit_job(core, SL_JOB_GATHER, buffer->index, buffer);
	else
		sl_emit_drop(core, buffer);
}

/* Keep a chunk of a peer that may have agreed on the view first. Chunks of another view that came before it
 * are of an attempt that the peer has ended: they go. */
static void keep_early(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	struct sl_peer *p = &core->peers[peer];
	if (p->early != NULL && memcmp(p->early->view, buffer->view, SL_HASH_BYTES) != 0) {
		sl_emit(core, SL_ACTION_DROP)->buffers = p->early;
		p->early = NULL;
		p->early_count = 0;
	}
	if (p->early_count >= SL_EARLY_MOST) {
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
		push(ours && wrong == NULL && buffer->kind == SL_MSG_SHARE ? good : bad, buffer);
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

/* Return NULL if the chunk of the deposit of neighbour `r` is acceptable, or why not. */
static const char *check_deposit(const struct sl_core *core, int r, const struct sl_buffer *buffer)
{
	if (r < 0 || buffer->origin != core->view.ids[core->view.neighbours[r]] ||
	    !sl_view_keeps(&core->view, (uint32_t)r))
		return "a deposit that this learner does not keep";
	if (buffer->index >= core->view.chunks || buffer->index != core->exchange[r].deposits_in)
		return "a deposit out of order";
	return buffer->size == sl_deposit_chunk_bytes(core, buffer->index) ? NULL
									   : "a deposit of the wrong size";
}

void sl_share_deposit(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer)
{
	int r = sl_view_neighbour(&core->view, peer);
	const char *wrong = check_deposit(core, r, buffer);
	if (wrong != NULL) {
		sl_emit_reject(core, peer, wrong);
		sl_emit_drop(core, buffer);
		return;
	}
	core->exchange[r].deposits_in++;
	core->at.progress = core->now;
	buffer->from = core->view.neighbours[r];
	buffer->next = NULL;
	sl_emit_job(core, SL_JOB_FETCH, buffer->index, buffer);
}

/* Return true if all that neighbour `r` owes in SHARE is here. */
static bool complete(const struct sl_core *core, uint32_t r)
{
	const struct sl_exchange *exchange = &core->exchange[r];
	bool deposit = !sl_view_keeps(&core->view, r) || exchange->deposits_in == core->view.chunks;
	return deposit && exchange->shares_in == sl_view_share_count(&core->view) &&
	       core->at.secrets->shares[r].size != 0;
}

static uint32_t least_in(const struct sl_core *core)
{
	uint32_t least = UINT32_MAX;
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (core->exchange[r].shares_in < least)
			least = core->exchange[r].shares_in;
	return least;
}

enum sl_wait sl_share_awaits(const struct sl_core *core, uint64_t *set)
{
	if (core->jobs > 0)
		return SL_WAIT_ARITHMETIC;
	sl_pace_fewest(core, set);
	return SL_WAIT_SHARES;
}

/* Fail the attempt if a neighbour holds up the others, or nothing comes for too long. The neighbours
 * of which the fewest chunks are here are missing: the others may wait for theirs. */
static bool stalled(struct sl_core *core)
{
	bool slow = sl_pace_slow(core, false, core->missing);
	if (core->jobs > 0 || (!slow && core->now < sl_pace_silent_at(core)))
		return false;
	if (!slow)
		sl_pace_fewest(core, core->missing);
	sl_attempt_fail(core, slow ? SL_REASON_SLOW : SL_REASON_STALLED, false)->set = core->failed;
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

/* Return the number of chunks of the own deposit that may be made: all shares of them are added, and the
 * keepers have kept up. */
static uint32_t deposits_due(const struct sl_core *core, uint32_t in)
{
	const struct sl_attempt_state *at = &core->at;
	uint32_t due = seeded(core) ? at->expanded : in;
	due = at->drawn && at->share_next > due ? due : at->drawn ? at->share_next : 0;
	for (uint32_t r = 0; r < core->view.degree; r++) {
		uint32_t most = core->exchange[r].deposits_in + SL_DEPOSIT_WINDOW;
		bool mutual = sl_view_keeps(&core->view, r) && sl_view_is_keeper(&core->view, r);
		due = mutual && most < due ? most : due;
	}
	return due;
}

bool sl_share_advance(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	uint32_t in = least_in(core), chunks = core->view.chunks, due = deposits_due(core, in);
	for (; at->deposit_asked < due && at->deposit_asked < at->deposit_made + SL_WINDOW;
	     at->deposit_asked++) /* first: they are what the keepers wait for */
		sl_emit_job(core, SL_JOB_DEPOSIT, at->deposit_asked, NULL);
	if (at->encoded && !at->share_busy)
		next_job(core, in);
	bool all = at->deposit_made == chunks;
	for (uint32_t r = 0; all && r < core->view.degree; r++)
		all = complete(core, r);
	if (all) {
		sl_move_to(core, SL_PHASE_READY);
		return true;
	}
	sl_pace_look(core);
	return stalled(core);
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

void sl_share_secrets(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_secrets *secrets = core->at.secrets;
	memcpy(secrets->key, result->secrets->key, SL_KEY_BYTES);
	memcpy(secrets->challenge, result->secrets->challenge, SL_KEY_BYTES);
	memcpy(secrets->root, result->secrets->root, SL_HASH_BYTES);
	memcpy(core->at.keys[core->view.self], secrets->key, SL_KEY_BYTES);
	core->at.drawn = true;
	core->at.progress = core->now;
	sl_emit_chunk(core, core->view_neighbours, SL_MSG_KEY_SHARE,
		      (struct sl_chunk){.size = sl_key_tree_share_bytes(core->view.degree)},
		      (struct sl_payload){.source = SL_SOURCE_KEY_SHARES});
}

void sl_share_deposited(struct sl_core *core, const struct sl_job_result *result)
{
	core->at.progress = core->now;
	core->at.deposit_made++;
	sl_deposit_send(core, core->keepers, core->view.self, result->chunk, false);
}

/* Stop: the own model cannot be encoded, and another attempt would fail alike. */
static void unfit_model(struct sl_core *core, const struct sl_job_result *result)
{
	enum sl_reason reason = result->zeroed			 ? SL_REASON_ZEROED
				: result->code == SL_ERR_RANGE	 ? SL_REASON_CLIP
				: result->code == SL_ERR_REFUSED ? SL_REASON_WEIGHT
								 : SL_REASON_MODEL;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_FAILED);
	report->reason = reason;
	if (reason == SL_REASON_WEIGHT) {
		report->why.weight.weight = result->total;
		report->why.weight.most = core->config.parameters.max_weight;
	} else {
		report->why.model.index = result->zeroed ? result->first_frozen : result->note.index;
		report->why.model.value = result->note.value;
		report->why.model.clipping_range = core->view.encoding.clipping_range;
		report->why.model.exact = sl_encoding_has_limbs(&core->view.encoding);
	}
	sl_emit_stop(core, SL_ERR_RANGE);
}

/* Report what the quantization step of the view costs the model. */
static void report_rounding(struct sl_core *core, const struct sl_job_result *result)
{
	if (core->view.encoding.kind == SL_ENCODING_PAPER || sl_encoding_is_noisy(&core->view.encoding))
		return; /* its errors are not measured, or small beside the noise */
	struct sl_report *report = sl_emit_report(core, SL_REPORT_ENCODED);
	report->encoded.values = core->view.encoding.values;
	report->encoded.step = sl_encoding_step(&core->view.encoding);
	report->encoded.n = core->view.agreed.n;
	report->encoded.vanished = result->note.vanished;
	report->encoded.rounding = result->note.rounding;
	report->encoded.update = result->update;
	report->encoded.frozen = result->frozen;
	report->encoded.first_frozen = result->first_frozen;
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
	if (result->scaled)
		sl_emit_report(core, SL_REPORT_SCALED);
	if (result->total == 0 || (sl_view_ranged(&core->view) && !result->far))
		return; /* the range follows */
	struct sl_report *report = sl_emit_report(core, SL_REPORT_CLAMPED);
	report->clamped.count = result->total;
	report->clamped.ranged = sl_view_ranged(&core->view);
	report->clamped.clipping_range =
		sl_encoding_is_noisy(&core->view.encoding)
			? ldexp((double)core->view.encoding.noisy.most, core->view.encoding.noisy.step)
			: core->view.encoding.clipping_range;
}

void sl_share_gathered(struct sl_core *core, const struct sl_job_result *result)
{
	core->at.progress = core->now;
	if (result->code == SL_OK)
		return;
	uint32_t peer = sl_view_peer(&core->view, result->from);
	sl_attempt_fail_by(core, peer, SL_REASON_BAD_SHARE, true);
}

sl_ms sl_share_deadline(const struct sl_core *core)
{
	sl_ms stalls = sl_pace_silent_at(core), slow = sl_pace_deadline(core);
	return core->jobs > 0 ? SL_NEVER : stalls < slow ? stalls : slow;
}

uint32_t sl_share_permille(const struct sl_core *core)
{
	return (uint32_t)((core->at.share_next + core->at.deposit_made) * UINT64_C(500) / core->view.chunks);
}
