#include "tools/dev/bench/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void read_model(char *model, size_t size)
{
	char line[256];
	FILE *in = fopen("/proc/cpuinfo", "re");
	snprintf(model, size, "unknown processor");
	while (in != NULL && fgets(line, sizeof line, in) != NULL) {
		if (strncmp(line, "model name", 10) != 0 || strchr(line, ':') == NULL)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(model, size, "%s", strchr(line, ':') + 2);
		break;
	}
	if (in != NULL)
		fclose(in);
}

void sl_machine_look(struct sl_machine *machine)
{
	*machine = (struct sl_machine){.processors = sysconf(_SC_NPROCESSORS_ONLN)};
	read_model(machine->model, sizeof machine->model);
	if (getloadavg(&machine->load, 1) != 1)
		machine->load = 0;
}

json_t *sl_machine_json(const struct sl_machine *machine)
{
	return json_pack("{s:I, s:s, s:f}", "processors", (json_int_t)machine->processors, "model",
			 machine->model, "load", machine->load);
}

static double seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

void sl_machine_cpu_clock_read(struct sl_cpu_clock *clock)
{
	struct rusage self = {0}, children = {0};
	struct timespec now;
	unsigned long long user = 0, nice = 0, system = 0;
	FILE *in = fopen("/proc/stat", "re");
	if (in != NULL) {
		if (fscanf(in, "cpu %llu %llu %llu", &user, &nice, &system) != 3)
			user = nice = system = 0;
		fclose(in);
	}
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	clock_gettime(CLOCK_MONOTONIC, &now);
	clock->wall_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
	clock->all_s = (double)(user + nice + system) / (double)sysconf(_SC_CLK_TCK);
	clock->own_s = seconds(&self) + seconds(&children);
}

double sl_machine_cpu_others(const struct sl_cpu_clock *from, const struct sl_cpu_clock *to)
{
	double room = (to->wall_s - from->wall_s) * (double)sysconf(_SC_NPROCESSORS_ONLN);
	double others = (to->all_s - from->all_s) - (to->own_s - from->own_s);
	if (room <= 0 || others <= 0)
		return 0;
	return others < room ? others / room : 1;
}
