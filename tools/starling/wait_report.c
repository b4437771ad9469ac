#include "tools/starling/wait_report.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define PAUSE_S 60u

uint64_t sl_wait_report_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec;
}

bool sl_wait_report_due(struct sl_wait_report *report, const char *reason)
{
	char text[sizeof report->last];
	uint64_t now = sl_wait_report_now();
	snprintf(text, sizeof text, "%s", reason != NULL ? reason : "");
	if (report->said && strcmp(text, report->last) == 0 && now < report->at + PAUSE_S)
		return false;
	report->said = true;
	report->at = now;
	memcpy(report->last, text, sizeof text);
	return true;
}
