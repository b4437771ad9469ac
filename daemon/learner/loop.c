#include "daemon/learner/loop.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/application/application.h"
#include "daemon/learner/daemon.h"
#include "daemon/learner/events.h"
#include "daemon/learner/persist.h"
#include "daemon/learner/progress.h"
#include "daemon/learner/reload.h"
#include "daemon/learner/requests.h"
#include "daemon/learner/tasks.h"
#include "daemon/membership/discovery.h"
#include "daemon/membership/group_update.h"
#include "daemon/membership/joining.h"
#include "daemon/membership/roster_fetch.h"
#include "daemon/observe/monitor.h"
#include "daemon/observe/report_log.h"
#include "daemon/observe/status.h"
#include "daemon/observe/wait_log.h"

#define LOOK_MS 500u	 /* for waits, durable writes and progress */
#define START_MS 10000u	 /* in which a peer may still start */
#define PLACES_MS 60000u /* a second process dials every 15 s at least */
#define LARGE_FLOATS (4u << 20)

static void on_up(void *context, uint32_t peer)
{
	struct sl_daemon *daemon = context;
	daemon->observe.peers[peer].fault = (struct sl_link_fault){0};
	sl_status_linked(&daemon->observe, peer);
	sl_event_queue_add(&daemon->event_queue, SL_EVENT_LINK_UP)->event.peer = peer;
	sl_group_update_link_up(&daemon->members, peer);
}

/* Return true if a failed dial is worth a warning: its reason is a new one since the peer was last linked,
 * and it is not just that the peer starts. */
static bool is_news(struct sl_link_fault *fault, const char *why)
{
	bool starts = strcmp(why, uv_strerror(UV_ECONNREFUSED)) == 0 || strcmp(why, SL_LINK_TURNED_AWAY) == 0;
	sl_ms now = sl_clock_ms();
	if (fault->since == 0)
		fault->since = now;
	if (starts && now < fault->since + START_MS)
		return false;
	for (uint32_t i = 0; i < fault->count; i++)
		if (strcmp(fault->said[i], why) == 0)
			return false;
	if (fault->count == SL_LINK_FAULT_REASONS)
		return false;
	fault->said[fault->count++] = why;
	return true;
}

static void on_down(void *context, uint32_t peer, bool dialled, const char *why)
{
	struct sl_daemon *daemon = context;
	struct sl_record record;
	char address[SL_ADDRESS_BYTES];
	bool news = dialled && is_news(&daemon->observe.peers[peer].fault, why);
	sl_record_init(&record, news	  ? SL_RECORD_LINK_FAILED
				: dialled ? SL_RECORD_LINK_FAILED_AGAIN
					  : SL_RECORD_LINK_DOWN);
	sl_record_peer(&record, &daemon->members.roster, peer);
	sl_links_address(daemon->links, peer, address);
	record.address = address;
	record.reason = why;
	if (!daemon->stopping)
		sl_report_log_record(&daemon->observe, &record);
	sl_event_queue_add(&daemon->event_queue, SL_EVENT_LINK_DOWN)->event.peer = peer;
}

static void on_frame(void *context, uint32_t peer, uint32_t kind, uint8_t *payload, size_t size)
{
	struct sl_daemon *daemon = context;
	if (!sl_frame_group(kind)) {
		sl_event_queue_frame(&daemon->event_queue, peer, kind, payload, size);
		return;
	}
	sl_links_consumed(daemon->links, peer);
	sl_group_update_frame(&daemon->members, peer, kind, payload, size);
	free(payload);
}

static void on_refused(void *context, const char *address, int expected, const uint8_t *pin)
{
	struct sl_daemon *daemon = context;
	struct sl_record record;
	char shown[SL_PIN_TEXT_BYTES];
	sl_roster_pin_text(pin, shown);
	sl_record_init(&record, expected >= 0 ? SL_RECORD_REFUSED_ANSWER : SL_RECORD_REFUSED);
	if (expected >= 0)
		sl_record_peer(&record, &daemon->members.roster, (uint32_t)expected);
	record.address = address;
	record.key = shown;
	sl_report_log_record(&daemon->observe, &record);
}

static void on_two_places(void *context, uint32_t peer, const char *places)
{
	struct sl_daemon *daemon = context;
	struct sl_observed_peer *seen = &daemon->observe.peers[peer];
	bool news = sl_observe_places(seen)[0] == '\0';
	struct sl_record record;
	snprintf(seen->places, sizeof seen->places, "%s", places);
	seen->places_until = sl_clock_ms() + PLACES_MS;
	sl_record_init(&record, SL_RECORD_TWO_PLACES);
	sl_record_peer(&record, &daemon->members.roster, peer);
	record.reason = places;
	if (news)
		sl_report_log_record(&daemon->observe, &record);
}

static void on_prepare(uv_prepare_t *handle)
{
	sl_events_drain(handle->data);
}

static void on_check(uv_check_t *handle)
{
	sl_events_drain(handle->data);
}

static void on_watchdog(uv_timer_t *timer)
{
	struct sl_daemon *daemon = timer->data;
	struct sl_record record;
	uint64_t seconds;
	if (!daemon->stopping)
		sl_wait_log_look(&daemon->observe);
	sl_joining_look(&daemon->members);
	sl_roster_fetch_look(&daemon->members);
	sl_group_update_look(&daemon->members, false);
	sl_progress_look(daemon);
	if (!daemon->stopping && sl_store_deleted(daemon->store))
		sl_tasks_fatal(daemon, "its state folder was deleted; start it again: it then gets model and "
				       "records from its peers");
	const char *name = sl_persist_hangs(daemon, sl_clock_ms(), &seconds);
	if (name == NULL)
		return;
	sl_record_init(&record, SL_RECORD_DISK_HANGS);
	record.reason = name;
	record.waited_s = (double)seconds;
	sl_report_log_record(&daemon->observe, &record);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct sl_daemon *daemon = handle->data;
	sl_report_log_reason(&daemon->observe, SL_RECORD_STOPPING,
			     number == SIGINT ? "interrupted" : "terminated");
	daemon->restart_requested = daemon->other_model = false; /* if it was to start again */
	sl_daemon_stop(daemon, 0);
}

/* A learner in the foreground ends with its terminal. */
static void on_hangup(uv_signal_t *handle, int number)
{
	struct sl_daemon *daemon = handle->data;
	struct sl_error error;
	(void)number;
	if (sl_log_is_standard(daemon->observe.log) && isatty(STDERR_FILENO)) {
		sl_report_log_reason(&daemon->observe, SL_RECORD_STOPPING, "the terminal was closed");
		sl_daemon_stop(daemon, 0);
	} else {
		sl_reload(daemon, &error); /* logged */
	}
}

/* Return true if the model is large enough for TLS offload; for a smaller one, waking the worker costs more
 * than it saves. */
static bool is_large(const struct sl_daemon *daemon)
{
	return daemon->workspace.n >= LARGE_FLOATS;
}

/* Hold signals back (SIG_BLOCK), or take those that have come (SIG_UNBLOCK). They stay held back over an
 * exec: a learner that starts again would be killed by them until it handles them. */
static void hold_signals(int how)
{
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	pthread_sigmask(how, &signals, NULL);
}

void sl_loop_signals(struct sl_daemon *daemon)
{
	uv_signal_init(&daemon->loop, &daemon->handles.interrupt);
	uv_signal_init(&daemon->loop, &daemon->handles.terminate);
	uv_signal_init(&daemon->loop, &daemon->handles.hangup);
	daemon->handles.interrupt.data = daemon->handles.terminate.data = daemon->handles.hangup.data =
		daemon;
	uv_signal_start(&daemon->handles.hangup, on_hangup, SIGHUP);
	uv_signal_start(&daemon->handles.interrupt, on_signal, SIGINT);
	uv_signal_start(&daemon->handles.terminate, on_signal, SIGTERM);
	hold_signals(SIG_UNBLOCK);
}

/* Start the threads that compute, at most one for each block of the model. */
static void open_pool(struct sl_daemon *daemon)
{
	size_t most = daemon->workspace.n / SL_BLOCK_ELEMENTS + 1;
	uint32_t wanted = daemon->settings->threads > 0 ? daemon->settings->threads : sl_pool_processors();
	wanted = wanted < most ? wanted : (uint32_t)most;
	int rc = sl_pool_open(&daemon->pool, wanted);
	daemon->workspace.team = &daemon->pool.team;
	if (rc == 0)
		return;
	char text[128];
	snprintf(text, sizeof text, "%" PRIu32 " of %" PRIu32 " threads compute: %s",
		 daemon->pool.team.workers, wanted, uv_strerror(rc));
	sl_report_log_reason(&daemon->observe, SL_RECORD_THREADS, text);
}

int sl_loop_open(struct sl_daemon *daemon, struct sl_error *error)
{
	uv_loop_t *loop = &daemon->loop;
	uv_prepare_init(loop, &daemon->handles.before);
	uv_check_init(loop, &daemon->handles.after);
	uv_timer_init(loop, &daemon->handles.alarm);
	uv_idle_init(loop, &daemon->handles.busy);
	daemon->handles.before.data = daemon->handles.after.data = daemon->handles.alarm.data = daemon;
	uv_prepare_start(&daemon->handles.before, on_prepare);
	uv_check_start(&daemon->handles.after, on_check);
	uv_timer_init(loop, &daemon->handles.watchdog);
	daemon->handles.watchdog.data = daemon;
	uv_timer_start(&daemon->handles.watchdog, on_watchdog, LOOK_MS, LOOK_MS);
	open_pool(daemon);
	int rc = sl_worker_open(&daemon->compute, loop);
	if (rc == 0)
		rc = sl_worker_open(&daemon->train, loop);
	if (rc == 0 && is_large(daemon))
		rc = sl_worker_open(&daemon->crypto, loop);
	if (rc == 0 && is_large(daemon)) /* beside the threads that compute: half as many */
		sl_worker_grow(&daemon->crypto, daemon->pool.team.workers / 2);
	bool lack = rc == UV_EAGAIN || rc == UV_ENOMEM;
	return rc == 0 ? SL_OK
		       : sl_err_set(error, lack ? SL_ERR_NOMEM : SL_ERR_IO, "no thread starts: %s%s",
				    uv_strerror(rc), lack ? " (see ulimit -v and -u)" : "");
}

int sl_loop_links(struct sl_daemon *daemon, const struct sl_links_handler *handler, bool joins_only,
		  struct sl_error *error)
{
	struct sl_links_config config = {.loop = &daemon->loop,
					 .roster = &daemon->members.roster,
					 .self = daemon->members.self,
					 .tls = &daemon->tls,
					 .listen = daemon->listen.address,
					 .proxy = &daemon->members.proxy,
					 .relays = daemon->settings->relay,
					 .handler = *handler,
					 .joins_only = joins_only};
	int rc = sl_tls_open(&daemon->tls, &daemon->members.identity, &daemon->members.roster, error);
	if (rc == SL_OK)
		rc = sl_joining_open(&daemon->members, &config, error);
	daemon->tls.joins = rc == SL_OK && daemon->members.admission->roster != NULL;
	if (rc == SL_OK)
		rc = sl_links_open(&daemon->links, &config, error);
	daemon->members.host.links = daemon->observe.of.links = daemon->links;
	return rc == SL_OK ? sl_discovery_open(&daemon->members, daemon->listen.address, error) : rc;
}

int sl_loop_control(struct sl_daemon *daemon, struct sl_error *error)
{
	return sl_control_open(&daemon->control, &daemon->loop, daemon->observe.log,
			       daemon->settings->control, sl_requests_serve, daemon, error);
}

int sl_loop_listen_early(struct sl_daemon *daemon, struct sl_error *error)
{
	const struct sl_links_handler handler = {.context = daemon,
						 .up = on_up,
						 .down = on_down,
						 .frame = on_frame,
						 .refused = on_refused,
						 .two_places = on_two_places};
	int rc = sl_loop_links(daemon, &handler, true, error);
	return rc == SL_OK ? sl_loop_control(daemon, error) : rc;
}

int sl_loop_listen(struct sl_daemon *daemon, struct sl_error *error)
{
	int rc = daemon->links == NULL ? sl_loop_listen_early(daemon, error) : SL_OK;
	if (rc == SL_OK)
		rc = sl_monitor_open(&daemon->observe, error);
	if (rc != SL_OK)
		return rc;
	sl_links_take_members(daemon->links, is_large(daemon) ? &daemon->crypto : NULL);
	struct sl_record record;
	sl_record_init(&record, daemon->listen.on_all ? SL_RECORD_LISTENING_ON_ALL : SL_RECORD_LISTENING);
	record.address = daemon->listen.address;
	record.reason = daemon->members.roster.members[daemon->members.self].address;
	record.incarnation = sl_store_incarnation(daemon->store);
	sl_report_log_record(&daemon->observe, &record);
	if (daemon->observe.http != NULL) {
		sl_record_init(&record, SL_RECORD_HTTP);
		record.address = sl_http_url(daemon->observe.http);
		sl_report_log_record(&daemon->observe, &record);
	}
	return SL_OK;
}

int sl_loop_run(struct sl_daemon *daemon)
{
	daemon->observe.notes.started_at = time(NULL);
	sl_event_queue_add(&daemon->event_queue, SL_EVENT_START);
	sl_reload_missed(daemon);
	if (!daemon->stopping)
		uv_run(&daemon->loop, UV_RUN_DEFAULT);
	return daemon->status;
}

/* ---- closing ---- */

static void close_handle(uv_handle_t *handle, void *argument)
{
	(void)argument;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void sl_loop_close(struct sl_daemon *daemon)
{
	if (daemon->loop.data == NULL)
		return; /* it was never opened */
	if (daemon->restart_requested)
		hold_signals(SIG_BLOCK);
	daemon->stopping = true;
	atomic_store(&daemon->training.stop, true);
	if (sl_settings_has_application(daemon->settings) && daemon->trainer != NULL)
		sl_application_stop(daemon->trainer); /* its thread adds tasks to the workers */
	if (daemon->compute.back.loop != NULL)
		sl_worker_close(&daemon->compute); /* first: the last commit queues an evaluation, which is
						      still logged */
	sl_pool_close(&daemon->pool);
	if (daemon->train.back.loop != NULL)
		sl_worker_close(&daemon->train);
	daemon->closed = true;
	if (daemon->control != NULL)
		sl_control_close(daemon->control);
	sl_monitor_close(&daemon->observe);
	if (daemon->members.mdns != NULL)
		sl_mdns_close(daemon->members.mdns);
	if (daemon->links != NULL)
		sl_links_close(daemon->links);
	if (daemon->crypto.back.loop != NULL)
		sl_worker_close(&daemon->crypto); /* last: offloads end, and their links send close_notify */
	uv_run(&daemon->loop, UV_RUN_NOWAIT);
	uv_walk(&daemon->loop, close_handle, NULL);
	uv_run(&daemon->loop, UV_RUN_DEFAULT);
	uv_loop_close(&daemon->loop);
}
