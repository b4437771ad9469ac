#include "daemon/learner/actions.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/core/execute.h"
#include "common/wire/codec.h"
#include "daemon/learner/budget.h"
#include "daemon/learner/daemon.h"
#include "daemon/learner/persist.h"
#include "daemon/learner/tasks.h"
#include "daemon/observe/report_log.h"
#include "daemon/observe/wait_log.h"
#include "daemon/runtime/failpoint.h"
#include "daemon/runtime/pages.h"

static struct sl_frame *encode(const struct sl_message *m, bool vector, uint8_t **piece)
{
	size_t size = sl_codec_bytes(m);
	struct sl_frame *frame = sl_link_frame_new(size, vector);
	if (frame == NULL)
		abort(); /* at most 257 KiB: no way to continue */
	frame->secret = m->kind == SL_MSG_SHARE || m->kind == SL_MSG_KEY_SHARE;
	sl_codec_encode(m, frame->bytes, size, piece);
	return frame;
}

static void to_set(struct sl_daemon *daemon, const uint64_t *to, struct sl_frame *frame)
{
	for (uint32_t i = 0; i < daemon->members.roster.size; i++)
		if (sl_bit(to, i))
			sl_links_send(daemon->links, i, frame);
	sl_link_frame_release(frame);
}

/* Return true if every peer of `to` reads what it is sent. A request from one that does not is ignored: the
 * answers would fill the memory. */
static bool reads(const struct sl_daemon *daemon, const uint64_t *to)
{
	for (uint32_t i = 0; i < daemon->members.roster.size; i++)
		if (sl_bit(to, i) && !sl_links_reads(daemon->links, i))
			return false;
	return true;
}

/* Return true if the bytes of `chunk` are available. The file of a result may have failed to open; the peer
 * then requests the result elsewhere. */
static bool at_hand(const struct sl_daemon *daemon, const struct sl_payload *payload,
		    const struct sl_chunk *chunk)
{
	const struct sl_result *result = &daemon->result;
	return payload->source != SL_SOURCE_RESULT ||
	       (result->certificate.t == chunk->t && payload->at + chunk->size <= result->bytes);
}

static struct sl_frame *encode_chunk(struct sl_daemon *daemon, const struct sl_message *m,
				     const struct sl_payload *payload)
{
	uint8_t *bytes = NULL;
	struct sl_frame *frame = encode(m, true, &bytes);
	sl_payload_write(&daemon->workspace, daemon->workspace_view, payload, &m->chunk, daemon->result.model,
			 bytes);
	if (payload->source == SL_SOURCE_RESULT)
		sl_pages_release(daemon->result.model + payload->at, m->chunk.size);
	return frame;
}

/* Send a chunk: a frame for each neighbour if they are shares or key shares, else one frame for all
 * receivers.
 */
static void send_chunk(struct sl_daemon *daemon, const uint64_t *to, struct sl_message *m,
		       struct sl_payload payload)
{
	const struct sl_view *view = daemon->workspace_view;
	if (!at_hand(daemon, &payload, &m->chunk) || (payload.requested && !reads(daemon, to)))
		return;
	if (payload.source != SL_SOURCE_SHARES && payload.source != SL_SOURCE_KEY_SHARES) {
		to_set(daemon, to, encode_chunk(daemon, m, &payload));
		return;
	}
	for (; payload.row < view->degree; payload.row++) {
		struct sl_frame *frame = encode_chunk(daemon, m, &payload);
		sl_links_send(daemon->links, sl_view_peer(view, payload.row), frame);
		sl_link_frame_release(frame);
	}
}

static void send_control(struct sl_daemon *daemon, const uint64_t *to, const struct sl_message *m)
{
	struct sl_frame *frame = encode(m, false, NULL);
	if (m->kind == SL_MSG_LINK_STATE || m->kind == SL_MSG_READY || m->kind == SL_MSG_ABORT)
		daemon->observe.figures.flood_bytes +=
			frame->size * sl_bit_count(to, sl_bit_words(daemon->members.roster.size));
	to_set(daemon, to, frame);
}

/* Return the failpoint that sending `m` reaches, or SL_FAILPOINT_COUNT. */
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
	case SL_MSG_KEY:
		return m->key.origin == daemon->settings->id ? SL_FAILPOINT_KEY_SENT : SL_FAILPOINT_COUNT;
	case SL_MSG_STATE:
		return SL_FAILPOINT_MIXING;
	default:
		return SL_FAILPOINT_COUNT;
	}
}

static void send_to(void *shell, const struct sl_action *action)
{
	struct sl_daemon *daemon = shell;
	struct sl_message m = action->send.message;
	const uint64_t *to = action->send.to;
	if (action->send.payload.source != SL_SOURCE_NONE) {
		send_chunk(daemon, to, &m, action->send.payload);
	} else {
		bool answer = m.kind == SL_MSG_ROUND || (m.kind == SL_MSG_DIGEST && !action->send.own);
		if (action->send.own)
			sl_daemon_sign(daemon, &m);
		if (!answer || reads(daemon, to))
			send_control(daemon, to, &m);
	}
	enum sl_failpoint point = point_of(daemon, &m);
	if (point != SL_FAILPOINT_COUNT)
		daemon->passed |= 1u << point;
}

static void stop(void *shell, const struct sl_action *action)
{
	struct sl_daemon *daemon = shell;
	int code = action->code;
	if (code == SL_ERR_RANGE && daemon->trainer->ops->forget != NULL)
		daemon->trainer->ops->forget(daemon->trainer); /* or the next start would end alike */
	if (code != SL_OK) {
		atomic_store(&daemon->failed, true);
		sl_daemon_stop(daemon, 1);
	} else if (daemon->farewell_ms == 0) {
		sl_report_log_round(&daemon->observe,
				    daemon->budget.ended ? SL_RECORD_FINISHED_SPENT : SL_RECORD_FINISHED,
				    daemon->settings->rounds);
		sl_daemon_finish(daemon);
	}
}

static void persist(void *shell, const struct sl_action *action)
{
	sl_persist_add(shell, &action->persist);
}

static void train(void *shell, const struct sl_action *action)
{
	sl_tasks_train(shell, action->train.t, action->train.draw);
}

static void compute(void *shell, const struct sl_action *action)
{
	sl_tasks_compute(shell, &action->job);
}

static void links(void *shell, const struct sl_action *action)
{
	const struct sl_daemon *daemon = shell;
	sl_links_want(daemon->links, action->to);
}

static void drop(void *shell, const struct sl_action *action)
{
	(void)shell;
	sl_event_queue_free_buffers(action->buffers);
}

static void wipe(void *shell, const struct sl_action *action)
{
	(void)action;
	sl_tasks_wipe(shell);
}

static void report(void *shell, const struct sl_action *action)
{
	struct sl_daemon *daemon = shell;
	if (action->report.kind == SL_REPORT_PHASE)
		sl_wait_log_end(&daemon->observe);
	sl_report_log(&daemon->observe, &action->report);
	sl_budget_failed(daemon, &action->report);
}

void sl_actions_execute(struct sl_daemon *daemon, const struct sl_actions *actions)
{
	static const struct sl_duties duties = {.of = {[SL_ACTION_COMPUTE] = compute,
						       [SL_ACTION_PERSIST] = persist,
						       [SL_ACTION_WIPE] = wipe,
						       [SL_ACTION_SEND] = send_to,
						       [SL_ACTION_TRAIN] = train,
						       [SL_ACTION_LINKS] = links,
						       [SL_ACTION_DROP] = drop,
						       [SL_ACTION_REPORT] = report,
						       [SL_ACTION_STOP] = stop}};
	sl_core_execute(actions, &duties, daemon);
}
