/* machine.h - what the figures were taken on, and how much of it others wanted meanwhile. */
#pragma once

#include <jansson.h>

struct sl_machine {
	long processors;
	char model[96];
	double load; /* runnable processes, mean of the last minute */
};

void sl_machine_look(struct sl_machine *machine);
json_t *sl_machine_json(const struct sl_machine *machine);

/* CPU seconds since the machine was started, of all programs; and of this one with all that it has started
 * and seen end. */
struct sl_cpu_clock {
	double wall_s, all_s, own_s;
};
void sl_machine_cpu_clock_read(struct sl_cpu_clock *clock);
/* The part of the machine, 0 to 1, that programs not ours took between the two. */
double sl_machine_cpu_others(const struct sl_cpu_clock *from, const struct sl_cpu_clock *to);
