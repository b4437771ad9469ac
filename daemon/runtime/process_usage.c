#include "daemon/runtime/process_usage.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

double sl_process_usage_cpu_s(void)
{
	struct rusage usage;
	return getrusage(RUSAGE_SELF, &usage) == 0 ? seconds(usage.ru_utime) + seconds(usage.ru_stime) : 0;
}

uint64_t sl_process_usage_bytes(const char *name)
{
	char line[256];
	size_t length = strlen(name);
	unsigned long long kib = 0;
	FILE *in = fopen("/proc/self/status", "re");
	if (in == NULL)
		return 0;
	while (fgets(line, sizeof line, in) != NULL)
		if (strncmp(line, name, length) == 0 && sscanf(line + length, ": %llu kB", &kib) == 1)
			break;
	fclose(in);
	return kib << 10;
}
