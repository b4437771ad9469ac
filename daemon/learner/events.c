#include "daemon/learner/events.h"

#include <string.h>

#include "common/wire/codec.h"
#include "daemon/learner/actions.h"
#include "daemon/learner/daemon.h"
#include "daemon/membership/group_update.h"
#include "daemon/membership/joining.h"
#include "daemon/membership/roster_copy.h"
#include "daemon/observe/report_log.h"
#include "daemon/runtime/failpoint.h"

#define TURN_EVENTS 256u /* events per call; then the loop serves timers and signals */

/* Return true if the signer of `m` floods: its signature is not worth the time. */
static bool is_ignored(const struct sl_daemon *daemon, const struct sl_message *m)
{
	const sl_id *id = sl_message_role(m, SL_ROLE_SIGNER);
	int signer = sl_message_role(m, SL_ROLE_SIGNATURE) == NULL
			     ? -1
			     : sl_roster_find(&daemon->members.roster, *id);
	return signer >= 0 && sl_core_ignores(daemon->core, (uint32_t)signer, sl_clock_ms());
}

/* Return the reason to reject a Hello of another run, otherwise NULL. A different roster is detected in the
 * link states, so that every learner reports it. */
static const char *check_hello(const struct sl_daemon *daemon, const struct sl_message *m)
{
	if (m->kind != SL_MSG_HELLO)
		return NULL;
	if (memcmp(m->hello.run, daemon->core_config.scope.run, SL_RUN_BYTES) != 0)
		return "is in another run (the setting `run` differs)";
	return NULL;
}

/* Warn about bytes that no learner of this version sends, and close the link. */
static void reject(struct sl_daemon *daemon, uint32_t peer, const char *why)
{
	sl_report_log_warn(&daemon->observe, peer, why);
	sl_links_drop(daemon->links, peer, "received an invalid frame");
}

/* Restart the program. The model of the last committed round could not be read at the start and has now been
 * fetched. The records of the following round bind this learner from now on, and they are read at a start
 * only. */
static void start_again(struct sl_daemon *daemon)
{
	sl_report_log_round(&daemon->observe, SL_RECORD_AGAIN, daemon->committed.through);
	sl_daemon_restart(daemon);
}

static void step(struct sl_daemon *daemon, struct sl_event *event)
{
	event->now = sl_clock_ms();
	int rc = sl_core_step(daemon->core, event, &daemon->actions);
	bool committed =
		rc == SL_OK && event->kind == SL_EVENT_DURABLE && event->durable.kind == SL_PERSIST_COMMIT;
	if (committed) {
		sl_result_close(&daemon->result);
		daemon->result = daemon->committed.next;
		daemon->committed.next = (struct sl_result){0};
	}
	if (rc == SL_OK)
		sl_actions_execute(daemon, &daemon->actions);
	else if (event->buffer != NULL)
		sl_event_queue_free_buffers(event->buffer);
	if (committed && event->durable.t == daemon->committed.through)
		start_again(daemon);
	if (committed)
		sl_group_update_look(&daemon->members, true);
	if (rc == SL_OK && event->kind == SL_EVENT_DURABLE) {
		sl_roster_copy_durable(&daemon->members, &event->durable);
		sl_joining_durable(&daemon->members, &event->durable);
	}
}

/* Return false if the frame is dropped. */
static bool step_frame(struct sl_daemon *daemon, struct sl_queued_event *h)
{
	struct sl_decoded decoded;
	const char *why = NULL;
	int rc = sl_codec_decode(h->kind, h->payload, h->size, &decoded, &why);
	if (rc != SL_OK) {
		reject(daemon, h->event.peer, why);
		return false;
	}
	if (!sl_core_wants(daemon->core, &decoded.message) || is_ignored(daemon, &decoded.message)) {
		sl_codec_close(&decoded);
		return false;
	}
	why = check_hello(daemon, &decoded.message);
	if (h->kind == SL_MSG_HELLO)
		daemon->observe.peers[h->event.peer].warning.other_run = why != NULL;
	if (h->kind == SL_MSG_HELLO && decoded.message.hello.status == SL_PEER_STATUS_ABSTAINS)
		sl_links_suspect(daemon->links,
				 h->event.peer); /* it forgot, or another process has its key */
	if (why == NULL)
		why = sl_verify_message(&daemon->verifier, &daemon->core_config.scope, &decoded.message,
					h->payload, h->size);
	if (why != NULL) {
		sl_report_log_warn(&daemon->observe, h->event.peer,
				   why); /* the relay is not at fault: keep the link */
	} else {
		h->event.message = &decoded.message;
		if (h->kind >= SL_MSG_SHARE)
			h->event.buffer = sl_event_queue_buffer(h, &decoded.message.chunk);
		step(daemon, &h->event);
	}
	sl_codec_close(&decoded);
	return why == NULL;
}

static void on_alarm(uv_timer_t *timer)
{
	struct sl_daemon *daemon = timer->data;
	sl_event_queue_add(&daemon->event_queue, SL_EVENT_DEADLINE);
}

static void arm(struct sl_daemon *daemon)
{
	sl_ms due = sl_core_deadline(daemon->core), now = sl_clock_ms();
	if (due == SL_NEVER || daemon->stopping || daemon->farewell_ms != 0)
		uv_timer_stop(&daemon->handles.alarm);
	else
		uv_timer_start(&daemon->handles.alarm, on_alarm, due > now ? due - now : 0, 0);
}

/* Reach the failpoints passed in this step; everything sent before them has left. */
static void crash(struct sl_daemon *daemon)
{
	for (int point = 0; point < SL_FAILPOINT_COUNT && daemon->passed != 0; point++)
		if (daemon->passed >> point & 1)
			sl_failpoint_reach((enum sl_failpoint)point);
	daemon->passed = 0;
}

/* An active idle handle keeps the loop from sleeping; the callback itself has no work. */
static void on_busy(uv_idle_t *idle)
{
	(void)idle;
}

void sl_events_drain(struct sl_daemon *daemon)
{
	if (daemon->closed)
		return;
	bool any = daemon->event_queue.first != NULL, owes = false; /* the last step left moves to the next */
	for (uint32_t n = 0; n < TURN_EVENTS && daemon->event_queue.first != NULL && !daemon->stopping; n++) {
		struct sl_queued_event *h = sl_event_queue_take(&daemon->event_queue);
		daemon->progress.taken++;
		h->event.more = daemon->event_queue.first != NULL && n + 1 < TURN_EVENTS;
		if (h->frame) {
			owes = step_frame(daemon, h) ? h->event.more : owes;
			sl_links_consumed(daemon->links, h->event.peer);
		} else {
			owes = h->event.more;
			step(daemon, &h->event);
		}
		sl_event_queue_free(h);
	}
	if (owes && !daemon->stopping)
		step(daemon, &(struct sl_event){.kind = SL_EVENT_DEADLINE});
	if (daemon->event_queue.first != NULL)
		uv_idle_start(&daemon->handles.busy, on_busy);
	else
		uv_idle_stop(&daemon->handles.busy);
	if (!any)
		return;
	if (daemon->members.update.take_at != 0)
		sl_group_update_look(&daemon->members, false);
	sl_links_flush(daemon->links);
	crash(daemon);
	arm(daemon);
}
