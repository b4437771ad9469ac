#include "tools/dev/bench/hosts.h"

#include <math.h>

/* Add `took` seconds of the time before a sample. */
static void add(struct sl_hosts_waits *waits, const struct sl_hosts_sample *sample, double took)
{
	double rest = fmax(0, took * (1 - sample->ran - sample->delayed));
	if (sample->busy >= SL_HOSTS_BUSY) {
		waits->bandwidth += took;
		return;
	}
	waits->cpu += took * sample->ran;
	waits->processor += took * sample->delayed;
	*(sample->disk ? &waits->disk : &waits->trips) += rest;
}

struct sl_hosts_waits sl_hosts_waits(const struct sl_hosts_sample *samples, size_t count, double from_s,
				     double to_s)
{
	struct sl_hosts_waits waits = {0};
	for (size_t i = 1; i < count; i++) {
		double from = samples[i - 1].at_s > from_s ? samples[i - 1].at_s : from_s;
		double to = samples[i].at_s < to_s ? samples[i].at_s : to_s;
		if (to > from)
			add(&waits, &samples[i], to - from);
	}
	return waits;
}

/* Return the first sample at or after a moment, or the last one. */
static const struct sl_hosts_sample *sample_at(const struct sl_hosts_sample *samples, size_t count,
					       double at_s)
{
	size_t i = 0;
	while (i + 1 < count && samples[i].at_s < at_s)
		i++;
	return &samples[i];
}

uint64_t sl_hosts_waits_sent(const struct sl_hosts_sample *samples, size_t count, uint32_t hosts,
			     double from_s, double to_s)
{
	uint64_t most = 0;
	if (count == 0)
		return 0;
	const struct sl_hosts_sample *from = sample_at(samples, count, from_s),
				     *to = sample_at(samples, count, to_s);
	for (uint32_t i = 0; i < hosts; i++)
		if (to->sent[i] - from->sent[i] > most)
			most = to->sent[i] - from->sent[i];
	return most;
}
