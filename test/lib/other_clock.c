/* Preloaded into a program under test: its clock is OTHER_CLOCK_S seconds ahead (or behind). */
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

time_t time(time_t *out)
{
	const char *ahead = getenv("OTHER_CLOCK_S");
	struct timeval now;
	gettimeofday(&now, NULL);
	time_t t = now.tv_sec + (ahead != NULL ? atol(ahead) : 0);
	if (out != NULL)
		*out = t;
	return t;
}
