#include "daemon/observe/wait_log.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "common/base/clean.h"
#include "daemon/observe/health.h"
#include "daemon/observe/observe.h"
#include "daemon/observe/obstacle.h"
#include "daemon/observe/report_log.h"

#define FIRST_MS 1000u
#define LONG_MS 10000u /* the application is told of such a wait, too */

/* Write the path of the control socket so that it can be typed in any folder: absolute, quoted where a shell
 * needs it. */
static void own_socket(const struct sl_observe *observe, char *text, size_t size)
{
	const char *path = observe->of.settings->control;
	char folder[PATH_MAX] = "", whole[PATH_MAX + SL_PATH_BYTES];
	if (*path != '/' && getcwd(folder, sizeof folder - 1) != NULL)
		strcat(folder, "/");
	snprintf(whole, sizeof whole, "%s%s", folder, path);
	sl_clean_shell_word(whole, text, size);
}

static void set_record(const struct sl_observe *observe, struct sl_record *record)
{
	const struct sl_wait_log *log = &observe->wait;
	record->round = log->t;
	record->attempt = log->a;
	record->phase = sl_phase_name(log->phase);
	record->waited_s = (double)(sl_clock_ms() - log->since) / 1000.0;
}

static void write_wait(struct sl_observe *observe, bool overdue)
{
	struct sl_record record;
	char control[PATH_MAX + SL_PATH_BYTES + 2], text[SL_OBSTACLE_BYTES];
	const struct sl_wait_log *log = &observe->wait;
	sl_record_waiting(&record, log->wait, log->set, overdue,
			  sl_obstacle(observe, log->wait, log->set, text), observe->of.roster);
	set_record(observe, &record);
	own_socket(observe, control, sizeof control);
	record.control = control;
	sl_report_log_record(observe, &record);
	if (record.waited_s * 1000 >= LONG_MS)
		sl_report_log_tell(observe, &record);
}

void sl_wait_log_end(struct sl_observe *observe)
{
	struct sl_wait_log *log = &observe->wait;
	struct sl_record record;
	if (log->said) {
		sl_record_waited(&record, log->wait, log->set, observe->of.roster);
		set_record(observe, &record);
		sl_report_log_record(observe, &record);
	}
	log->wait = SL_WAIT_NOTHING;
	log->said = false;
}

/* Return true if the wait is logged: it is not for training or arithmetic of this learner. */
static bool is_wait(const struct sl_observe *observe, enum sl_wait wait, const uint64_t *set)
{
	bool any = wait > SL_WAIT_ARITHMETIC || wait == SL_WAIT_DEPOSITS;
	for (uint32_t i = 0; wait < SL_WAIT_NOTHING && i < observe->of.roster->size; i++)
		any |= sl_bit(set, i);
	return any;
}

void sl_wait_log_look(struct sl_observe *observe)
{
	struct sl_wait_log *log = &observe->wait;
	struct sl_core_status status;
	uint64_t set[(SL_LEARNERS_MAX + 63) / 64] = {0};
	enum sl_wait wait = sl_observe_awaits(observe, set);
	sl_ms now = sl_clock_ms();
	sl_core_status(observe->of.core, &status);
	bool same = wait == log->wait && status.phase == log->phase && status.a == log->a &&
		    status.t == log->t && status.waits_since <= log->since;
	if (!same) {
		sl_wait_log_end(observe);
		*log = (struct sl_wait_log){.wait = wait,
					    .phase = status.phase,
					    .t = status.t,
					    .a = status.a,
					    .since = status.waits_since,
					    .log_at = status.waits_since + FIRST_MS};
	}
	if (!is_wait(observe, wait, set) || now < log->log_at)
		return;
	sl_ms elapsed = now - log->since;
	log->log_at = log->since + (elapsed < LONG_MS ? LONG_MS : 2 * elapsed);
	log->said = true;
	memcpy(log->set, set, sizeof set);
	write_wait(observe, sl_health_overdue(&status, wait, now));
}
