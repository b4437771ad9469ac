#include "daemon/learner/progress.h"

#include <stdio.h>
#include <string.h>

#include "daemon/learner/daemon.h"
#include "daemon/observe/monitor.h"
#include "daemon/runtime/service.h"

#define SHOW_MS 1000u

/* Return true if nothing of the learner's own work hangs. */
static bool advances(struct sl_daemon *daemon)
{
	struct sl_progress *p = &daemon->progress;
	bool taken = p->taken != p->seen || daemon->event_queue.first == NULL;
	p->seen = p->taken;
	return taken && sl_worker_busy_ms(&daemon->compute) <= SL_PROGRESS_TASK_MS;
}

/* Feed the watchdog, four times in its interval. */
static void feed(struct sl_progress *p)
{
	uint64_t interval = sl_service_watchdog_ms(), now = sl_clock_ms();
	if (interval == 0 || (p->fed_ms != 0 && now < p->fed_ms + interval / 4))
		return;
	p->fed_ms = now;
	sl_service_alive();
}

/* Show a status that has changed, once in a second. */
static void show(struct sl_progress *p, const char *text)
{
	uint64_t now = sl_clock_ms();
	if (now < p->shown_ms + SHOW_MS || strncmp(text, p->shown, sizeof p->shown - 1) == 0)
		return;
	snprintf(p->shown, sizeof p->shown, "%.*s", (int)sizeof p->shown - 1, text);
	p->shown_ms = now;
	sl_service_status(p->shown);
}

void sl_progress_look(struct sl_daemon *daemon)
{
	char line[SL_MONITOR_LINE_BYTES];
	if (daemon->stopping)
		return;
	sl_monitor_health(&daemon->observe, line);
	show(&daemon->progress, line);
	if (advances(daemon))
		feed(&daemon->progress);
}

void sl_progress_wait(struct sl_daemon *daemon, const char *what)
{
	if (daemon->progress.shown_ms == 0)
		sl_service_ready();
	show(&daemon->progress, what);
	feed(&daemon->progress);
}
