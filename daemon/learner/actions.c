/* Carries out what a step asked for, in its order. */
#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/wire/codec.h"
#include "daemon/learner/daemon.h"

void sl_actions_free_buffers(struct sl_buffer *buffer)
{
	while (buffer != NULL) {
		struct sl_buffer *next = buffer->next;
		sodium_memzero(buffer->memory, buffer->secret_size);
		free(buffer->memory);
		free(buffer);
		buffer = next;
	}
}

void sl_actions_sign(const struct sl_daemon *daemon, struct sl_message *m)
{
	const struct sl_scope *scope = &daemon->core_config.scope;
	uint8_t hash[SL_HASH_BYTES], *signature;
	switch (m->kind) {
	case SL_MSG_LINK_STATE:
		sl_canonical_link_state(scope, &m->link_state, hash);
		signature = m->link_state.signature;
		break;
	case SL_MSG_READY:
		sl_canonical_ready(scope, &m->ready, hash);
		signature = m->ready.signature;
		break;
	case SL_MSG_DIGEST:
		sl_canonical_digest(scope, &m->digest, hash);
		signature = m->digest.signature;
		break;
	case SL_MSG_ABORT:
		sl_canonical_abort(scope, &m->abort_record, hash);
		signature = m->abort_record.signature;
		break;
	default:
		return;
	}
	crypto_sign_detached(signature, NULL, hash, sizeof hash, daemon->identity.sign_key);
}

static struct sl_frame *encode(const struct sl_message *m, bool vector, uint8_t **piece)
{
	size_t size = sl_codec_bytes(m);
	struct sl_frame *frame = sl_link_frame_new(size, vector);
	if (frame == NULL)
		abort(); /* at most 257 KiB: nothing can go on */
	frame->secret = m->kind == SL_MSG_SHARE;
	sl_codec_encode(m, frame->bytes, size, piece);
	return frame;
}

static uint32_t receivers(const struct sl_daemon *daemon, const uint64_t *to)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < daemon->roster.size; i++)
		count += sl_bit(to, i);
	return count;
}

static void to_set(struct sl_daemon *daemon, const uint64_t *to, struct sl_frame *frame)
{
	for (uint32_t i = 0; i < daemon->roster.size; i++)
		if (sl_bit(to, i))
			sl_links_send(daemon->links, i, frame);
	sl_link_frame_release(frame);
}

/* Row r of the vault for neighbour r: a frame each. */
static void send_shares(struct sl_daemon *daemon, const struct sl_message *m)
{
	const struct sl_view *view = daemon->workspace_view;
	for (uint32_t r = 0; r < view->degree; r++) {
		uint8_t *piece = NULL;
		struct sl_frame *frame = encode(m, true, &piece);
		memcpy(piece, daemon->workspace.shares[r], m->chunk.size);
		sl_links_send(daemon->links, sl_view_peer(view, r), frame);
		sl_link_frame_release(frame);
	}
}

/* The same state for every neighbour: one frame, shared. */
static void send_state(struct sl_daemon *daemon, const uint64_t *to, const struct sl_message *m)
{
	uint8_t *piece = NULL;
	struct sl_frame *frame = encode(m, true, &piece);
	sl_job_mix_state(&daemon->workspace, daemon->workspace_view, &m->chunk, piece);
	to_set(daemon, to, frame);
}

#define RESULT_WAITING (8u * SL_CHUNK_BYTES_MAX)

/* Whoever asks for more than it reads gets nothing: its asking must not fill our memory. */
static bool reads(const struct sl_daemon *daemon, const uint64_t *to)
{
	for (uint32_t i = 0; i < daemon->roster.size; i++)
		if (sl_bit(to, i) && sl_links_waiting(daemon->links, i) > RESULT_WAITING)
			return false;
	return true;
}

/* A piece of the committed sum, as it lies in its file. */
static void send_result(struct sl_daemon *daemon, const uint64_t *to, const struct sl_message *m)
{
	const struct sl_result *result = &daemon->result;
	uint8_t *piece = NULL;
	size_t width = result->z_bytes / (daemon->workspace.n + 1),
	       first = (size_t)m->chunk.index * SL_CHUNK_ELEMENTS * width;
	if (result->certificate.t != m->chunk.t || first + m->chunk.size > result->z_bytes ||
	    !reads(daemon, to))
		return; /* its file could not be opened: who asked will ask somebody else */
	struct sl_frame *frame = encode(m, true, &piece);
	memcpy(piece, result->z + first, m->chunk.size);
	to_set(daemon, to, frame);
}

/* A piece of a masked state, as it lies in the spool. */
static void send_masked(struct sl_daemon *daemon, const uint64_t *to, const struct sl_message *m)
{
	uint8_t *piece = NULL;
	if (!reads(daemon, to))
		return;
	struct sl_frame *frame = encode(m, true, &piece);
	memcpy(piece, sl_masked_states_payload(daemon, m), m->chunk.size);
	to_set(daemon, to, frame);
}

static void send_control(struct sl_daemon *daemon, const uint64_t *to, const struct sl_message *m)
{
	struct sl_frame *frame = encode(m, false, NULL);
	if (m->kind == SL_MSG_LINK_STATE || m->kind == SL_MSG_READY || m->kind == SL_MSG_ABORT)
		daemon->figures.flood_bytes += frame->size * receivers(daemon, to);
	to_set(daemon, to, frame);
}

/* For tests: which point is passed by sending this. */
static enum sl_failpoint point_of(const struct sl_daemon *daemon, const struct sl_message *m)
{
	bool own = m->kind == SL_MSG_LINK_STATE ? m->link_state.id == daemon->settings->id
		   : m->kind == SL_MSG_READY	? m->ready.id == daemon->settings->id
						: true;
	switch (m->kind) {
	case SL_MSG_LINK_STATE:
		return own ? SL_FAILPOINT_LINK_STATE_SENT : SL_FAILPOINT_COUNT;
	case SL_MSG_READY:
		return own ? SL_FAILPOINT_READY_SENT : SL_FAILPOINT_COUNT;
	case SL_MSG_DIGEST:
		return SL_FAILPOINT_DIGEST_SENT;
	case SL_MSG_SHARE:
		return m->chunk.index + 1 == sl_view_share_count(daemon->workspace_view)
			       ? SL_FAILPOINT_SHARES_SENT
			       : SL_FAILPOINT_COUNT;
	case SL_MSG_STATE:
		return m->chunk.iteration > 0 ? SL_FAILPOINT_MIXING : SL_FAILPOINT_FIRST_STATE_SENT;
	default:
		return SL_FAILPOINT_COUNT;
	}
}

static void execute_send(struct sl_daemon *daemon, const struct sl_action *action)
{
	struct sl_message m = action->send.message;
	const uint64_t *to = action->send.to;
	switch (m.kind) {
	case SL_MSG_SHARE:
		send_shares(daemon, &m);
		break;
	case SL_MSG_STATE:
		sl_masked_states_nonce(daemon, &m);
		send_state(daemon, to, &m);
		break;
	case SL_MSG_RESULT:
		send_result(daemon, to, &m);
		break;
	case SL_MSG_MASKED:
		sl_masked_states_nonce(daemon, &m);
		send_masked(daemon, to, &m);
		break;
	default:
		if (action->send.own)
			sl_actions_sign(daemon, &m);
		send_control(daemon, to, &m);
	}
	enum sl_failpoint point = point_of(daemon, &m);
	if (point != SL_FAILPOINT_COUNT)
		daemon->passed |= 1u << point;
}

static void execute_stop(struct sl_daemon *daemon, int code)
{
	if (code == SL_OK)
		sl_log(daemon->log, SL_INFO, "finished", "all rounds are committed", "{s:i}", "rounds",
		       (int)daemon->settings->rounds);
	else
		atomic_store(&daemon->failed, true);
	sl_daemon_stop(daemon, code == SL_OK ? 0 : 1);
}

static void execute_one(struct sl_daemon *daemon, const struct sl_action *action)
{
	switch (action->kind) {
	case SL_ACTION_PERSIST:
		sl_persist_add(daemon, &action->persist);
		break;
	case SL_ACTION_SEND:
		execute_send(daemon, action);
		break;
	case SL_ACTION_TRAIN:
		sl_tasks_train(daemon, action->train.t, action->train.draw);
		break;
	case SL_ACTION_COMPUTE:
		sl_tasks_compute(daemon, &action->job);
		break;
	case SL_ACTION_LINKS:
		sl_links_want(daemon->links, action->to);
		break;
	case SL_ACTION_DROP:
		sl_actions_free_buffers(action->buffers);
		break;
	case SL_ACTION_WIPE:
		sl_tasks_wipe(daemon);
		break;
	case SL_ACTION_REPORT:
		sl_report_log(daemon, &action->report);
		break;
	case SL_ACTION_STOP:
		execute_stop(daemon, action->code);
		break;
	}
}

void sl_actions_execute(struct sl_daemon *daemon, const struct sl_actions *actions)
{
	for (uint32_t i = 0; i < actions->count; i++)
		execute_one(daemon, &actions->items[i]);
}
