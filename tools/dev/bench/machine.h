/* machine.h - the machine of the figures, and the part of it that other programs took meanwhile. */
#pragma once

#include <jansson.h>

struct sl_machine {
	long processors;
	char model[96];
	double load; /* runnable processes, mean of the last minute */
};

void sl_machine_look(struct sl_machine *machine);
json_t *sl_machine_json(const struct sl_machine *machine);

/* CPU seconds since the machine was started, of all programs; and of this one with its ended children. */
struct sl_cpu_clock {
	double wall_s, all_s, own_s;
};
void sl_machine_cpu_clock_read(struct sl_cpu_clock *clock);
/* Return the part of the machine, 0 to 1, that other programs took between the two. */
double sl_machine_cpu_others(const struct sl_cpu_clock *from, const struct sl_cpu_clock *to);
