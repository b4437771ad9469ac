#include "daemon/learner/forming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "daemon/learner/daemon.h"
#include "daemon/learner/loop.h"
#include "daemon/learner/progress.h"
#include "daemon/learner/requests.h"
#include "daemon/learner/validate.h"
#include "daemon/membership/group_update.h"
#include "daemon/membership/joining.h"
#include "daemon/membership/roster_fetch.h"
#include "daemon/observe/report_log.h"
#include "daemon/runtime/service.h"

#define LOOK_MS 500u

static void on_up(void *context, uint32_t peer)
{
	sl_group_update_link_up(&((struct sl_daemon *)context)->members, peer);
}

static void on_down(void *context, uint32_t peer, bool dialled, const char *why)
{
	(void)context, (void)peer, (void)dialled, (void)why; /* it may not have started yet */
}

static void on_frame(void *context, uint32_t peer, uint32_t kind, uint8_t *payload, size_t size)
{
	struct sl_daemon *daemon = context;
	sl_links_consumed(daemon->links, peer);
	if (sl_frame_group(kind))
		sl_group_update_frame(&daemon->members, peer, kind, payload, size);
	free(payload);
}

static void on_refused(void *context, const char *address, int expected, const uint8_t *pin)
{
	(void)context, (void)address, (void)expected, (void)pin; /* its roster may be newer */
}

/* A newer roster is taken at once: there is no round. But a learner that waits for its first application
 * takes no connections: those that it has admitted get their answer before. */
static void on_look(uv_timer_t *timer)
{
	struct sl_daemon *daemon = timer->data;
	sl_joining_look(&daemon->members);
	sl_roster_fetch_look(&daemon->members);
	bool owes =
		sl_settings_has_application(daemon->settings) && sl_admission_owes(daemon->members.admission);
	sl_group_update_look(&daemon->members, !owes);
	sl_progress_wait(daemon, "the group is forming");
}

/* Answer a request about rounds, of which there are none. */
static json_t *refuse(const struct sl_daemon *daemon)
{
	const struct sl_member *self = &daemon->members.roster.members[daemon->members.self];
	char text[SL_NAME_BYTES + 160];
	snprintf(text, sizeof text,
		 "group %s is forming: it has %u of the %u learners with which rounds begin; 'starling group "
		 "list' shows them",
		 daemon->members.group.name, daemon->members.roster.size, daemon->members.group.start);
	return json_pack("{s:b, s:b, s:I, s:s, s:I, s:s}", "ok", 0, "forming", 1, "id", (json_int_t)self->id,
			 "name", self->name, "pid", (json_int_t)getpid(), "error", text);
}

static json_t *serve(void *context, const char *line, size_t bytes, bool *watch)
{
	struct sl_daemon *daemon = context;
	json_error_t unused;
	json_t *request = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &unused);
	const char *op = json_string_value(json_object_get(request, "op"));
	json_t *answer;
	if (op != NULL && (strcmp(op, "stop") == 0 || strcmp(op, "reload") == 0 || strcmp(op, "group") == 0 ||
			   strcmp(op, "watch") == 0))
		answer = sl_requests_serve(context, line, bytes, watch);
	else
		answer = refuse(daemon);
	json_decref(request);
	return answer;
}

static int listen_for_peers(struct sl_daemon *daemon, struct sl_error *error)
{
	const struct sl_links_handler handler = {
		.context = daemon, .up = on_up, .down = on_down, .frame = on_frame, .refused = on_refused};
	int rc = sl_loop_links(daemon, &handler, error);
	if (rc != SL_OK)
		return rc;
	uint64_t all[(SL_LEARNERS_MAX + 63) / 64] = {0};
	for (uint32_t i = 0; i < daemon->members.roster.size; i++)
		sl_bit_set(all, i);
	sl_links_want(daemon->links, all);
	struct sl_record record;
	sl_record_init(&record, SL_RECORD_FORMING);
	record.reason =
		sl_record_words(&record,
				"listening on %s; group %s has %u of %u learners: this learner waits for the "
				"others to join",
				daemon->listen.address, daemon->members.group.name,
				daemon->members.roster.size, daemon->members.group.start);
	sl_report_log_record(&daemon->observe, &record);
	return SL_OK;
}

int sl_forming_open(struct sl_daemon *daemon, struct sl_error *error)
{
	int rc = sl_observe_peers(&daemon->observe, error);
	if (rc == SL_OK)
		rc = sl_group_update_open(&daemon->members, error);
	if (rc == SL_OK)
		rc = sl_folder_make(daemon->settings->state, error); /* of the control socket */
	if (rc == SL_OK)
		rc = listen_for_peers(daemon, error);
	if (rc == SL_OK)
		rc = sl_control_open(&daemon->control, &daemon->loop, daemon->observe.log,
				     daemon->settings->control, serve, daemon, error);
	if (rc == SL_OK)
		rc = sl_identity_hold(daemon->settings->identity, &daemon->members.identity, error);
	if (rc != SL_OK)
		return rc;
	uv_timer_init(&daemon->loop, &daemon->handles.watchdog);
	daemon->handles.watchdog.data = daemon;
	uv_timer_start(&daemon->handles.watchdog, on_look, LOOK_MS, LOOK_MS);
	sl_service_ready();
	return SL_OK;
}
