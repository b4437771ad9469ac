#include "daemon/observe/health.h"

#include <stdio.h>

bool sl_health_overdue(const struct sl_core_status *status, enum sl_wait wait, sl_ms now)
{
	bool late = status->deadline != SL_NEVER && now > status->deadline &&
		    now - status->deadline > SL_HEALTH_LATE_MS;
	return late || wait == SL_WAIT_CHANGE;
}

static void overdue(const struct sl_health *health, char *line, size_t size)
{
	const struct sl_core_status *status = &health->status;
	char last[64] = "";
	if (*health->obstacle != '\0')
		snprintf(last, sizeof last, ": ");
	else if (health->failures > 0)
		snprintf(last, sizeof last, " (%s)", sl_report_reason_name(health->reason));
	snprintf(line, size, "round %u attempt %u: %s%s, waiting for %s%s%s%s%s", status->t, status->a,
		 sl_phase_name(status->phase), health->wait != SL_WAIT_CHANGE ? " beyond its deadline" : "",
		 health->awaited, *health->awaited != '\0' ? " " : "", sl_wait_words(health->wait), last,
		 health->obstacle);
}

bool sl_health_line(const struct sl_health *health, char *line, size_t size)
{
	const struct sl_core_status *status = &health->status;
	if (health->failed)
		snprintf(line, size, "this learner has failed; its log says why");
	else if (health->writing_ms > SL_HEALTH_DISK_MS)
		snprintf(line, size,
			 "a record has not reached the disk for %llu s; see to the disk of the state folder",
			 (unsigned long long)health->writing_ms / 1000);
	else if (sl_health_overdue(status, health->wait, health->now))
		overdue(health, line, size);
	else if (health->failures >= SL_HEALTH_FAILURES_MOST)
		snprintf(line, size, "round %u: %u attempts in a row have failed, the last because of: %s",
			 status->t, health->failures, sl_report_reason_name(health->reason));
	else {
		snprintf(line, size, "round %u of %u: %s", status->t, status->rounds,
			 sl_phase_name(status->phase));
		return true;
	}
	return false;
}
