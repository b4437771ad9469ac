/* What ends a run: it is noted here, and the next tick of the loop asks the learners to end (launch.c). */
#include <stdarg.h>
#include <stdio.h>

#include "tools/launch/state.h"

void sl_launch_finish(struct sl_launch *launch)
{
	if (launch->ending)
		return;
	launch->ending = true;
	launch->end_ms = uv_now(&launch->loop);
}

void sl_launch_fail(struct sl_launch *launch, const char *format, ...)
{
	if (launch->failed || launch->ending)
		return;
	va_list args;
	va_start(args, format);
	vsnprintf(launch->error, sizeof launch->error, format, args);
	va_end(args);
	launch->failed = true;
	sl_launch_finish(launch);
}
