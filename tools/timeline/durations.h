/* durations.h - seconds in each phase, out of round documents: medians, quantiles, and the learner of the
 * largest. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "common/protocol/phase.h"

struct sl_sample {
	double s;
	uint64_t learner, round;
};

struct sl_samples {
	struct sl_sample *samples;
	size_t count;
	bool sorted;
};

struct sl_durations {
	struct sl_samples phases[SL_PHASE_COUNT];
};

void sl_durations_close(struct sl_durations *durations);
/* Add the seconds that each learner of the round spent in each phase, all attempts together; phases that go
 * on are left out. */
void sl_durations_add(struct sl_durations *durations, const json_t *document);

/* Return the value that a share `q` (0..1) of the samples does not exceed (nearest rank); there is one at
 * least. */
double sl_durations_quantile(struct sl_samples *samples, double q);
/* Return the largest sample. */
const struct sl_sample *sl_durations_largest(struct sl_samples *samples);

/* Return {"count":5, "p50_s":.., "p95_s":.., "max_s":.., "round":7}: the round of the largest; null without
 * samples. */
json_t *sl_durations_json(struct sl_samples *samples);
/* Return the phases with samples, in an array of such objects with "phase" and "learner". */
json_t *sl_durations_phases(struct sl_durations *durations);
/* Print such phases as a table; `round`: with the round of the largest. `document` has the names. */
void sl_durations_print(FILE *out, const json_t *document, const json_t *phases, bool round);

/* Return the phase of a document, "train"; SL_PHASE_COUNT if it is none. */
enum sl_phase sl_durations_phase(const char *name);
/* Write the name as in a document. */
void sl_durations_phase_name(enum sl_phase phase, char name[static 16]);

/* Write "ana (2)" for a learner of a document, "learner 2" where its name is not known. */
#define SL_DURATIONS_WHO_BYTES 96u
void sl_durations_who(const json_t *document, uint64_t id, char text[static SL_DURATIONS_WHO_BYTES]);

/* Numbers of an object; 0 and NaN where there is none. */
uint64_t sl_durations_whole(const json_t *object, const char *name);
double sl_durations_real(const json_t *object, const char *name);
