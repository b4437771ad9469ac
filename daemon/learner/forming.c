#include "daemon/learner/forming.h"

#include <stdlib.h>

#include "common/base/bytes.h"
#include "daemon/learner/daemon.h"
#include "daemon/learner/loop.h"
#include "daemon/learner/progress.h"
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

void sl_forming_look(struct sl_daemon *daemon, const char *what)
{
	sl_joining_look(&daemon->members);
	sl_roster_fetch_look(&daemon->members);
	sl_group_update_look(&daemon->members, true); /* at once: there is no round */
	sl_progress_wait(daemon, what);
}

static void on_look(uv_timer_t *timer)
{
	sl_forming_look(timer->data, "the group is forming");
}

static int listen_for_peers(struct sl_daemon *daemon, struct sl_error *error)
{
	const struct sl_links_handler handler = {
		.context = daemon, .up = on_up, .down = on_down, .frame = on_frame};
	int rc = sl_loop_links(daemon, &handler, false, error);
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
		rc = sl_loop_control(daemon, error);
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
