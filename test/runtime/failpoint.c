/* The failpoint of starlingd-test: kill the process, or stop the thread, at the point that the environment
 * names.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/runtime/failpoint.h"

static const char *const names[] = {
#define X(name, text) [SL_FAILPOINT_##name] = text,
	SL_FAILPOINTS(X)
#undef X
};

static _Noreturn void misnamed(const char *wanted)
{
	fprintf(stderr, "starlingd-test: STARLING_CRASH=%s: no such point; there are", wanted);
	for (int i = 0; i < SL_FAILPOINT_COUNT; i++)
		fprintf(stderr, " %s", names[i]);
	fprintf(stderr, "\n");
	_Exit(2);
}

/* Read the point (SL_FAILPOINT_COUNT: none), the number of the arrival, and whether the thread only stops,
 * from the environment. */
static enum sl_failpoint wanted(long *count, bool *hangs)
{
	const char *text = getenv("STARLING_CRASH");
	char *end = "";
	*count = 1;
	if (text == NULL || *text == '\0')
		return SL_FAILPOINT_COUNT;
	size_t length = strcspn(text, ":");
	if (text[length] == ':')
		*count = strtol(text + length + 1, &end, 10);
	*hangs = strcmp(end, ":hang") == 0;
	for (int i = 0; i < SL_FAILPOINT_COUNT; i++)
		if (strlen(names[i]) == length && strncmp(names[i], text, length) == 0 && *count > 0)
			return (enum sl_failpoint)i;
	misnamed(text);
}

void sl_failpoint_reach(enum sl_failpoint point)
{
	static atomic_long passed;
	long count;
	bool hangs = false;
	if (point != wanted(&count, &hangs) || atomic_fetch_add(&passed, 1) + 1 != count)
		return;
	while (hangs)
		pause();
	raise(SIGKILL);
}
