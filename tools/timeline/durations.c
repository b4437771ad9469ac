#include "tools/timeline/durations.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/table.h"
#include "tools/timeline/rounds.h"

uint64_t sl_durations_whole(const json_t *object, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(object, name));
	return value > 0 ? (uint64_t)value : 0;
}

double sl_durations_real(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

void sl_durations_phase_name(enum sl_phase phase, char name[static 16])
{
	size_t n = 0;
	for (const char *c = sl_phase_name(phase); *c != '\0' && n < 15; c++)
		name[n++] = (char)tolower(*c);
	name[n] = '\0';
}

enum sl_phase sl_durations_phase(const char *name)
{
	char own[16];
	for (int phase = 0; name != NULL && phase < SL_PHASE_COUNT; phase++) {
		sl_durations_phase_name((enum sl_phase)phase, own);
		if (strcmp(own, name) == 0)
			return (enum sl_phase)phase;
	}
	return SL_PHASE_COUNT;
}

static uint64_t learner_at(const void *items, size_t i)
{
	return sl_durations_whole(json_array_get(items, i), "id");
}

/* The learners of a document are ascending by id. */
void sl_durations_who(const json_t *document, uint64_t id, char text[static SL_DURATIONS_WHO_BYTES])
{
	const json_t *learners = json_object_get(document, "learners");
	size_t at = sl_rounds_search(learners, json_array_size(learners), id, learner_at);
	const json_t *learner = json_array_get(learners, at);
	const char *name = json_string_value(json_object_get(learner, "name"));
	if (name != NULL && sl_durations_whole(learner, "id") == id)
		snprintf(text, SL_DURATIONS_WHO_BYTES, "%s (%llu)", name, (unsigned long long)id);
	else
		snprintf(text, SL_DURATIONS_WHO_BYTES, "learner %llu", (unsigned long long)id);
}

/* ---- samples ---- */

void sl_durations_close(struct sl_durations *durations)
{
	for (int i = 0; i < SL_PHASE_COUNT; i++)
		free(durations->phases[i].samples);
}

static void add(struct sl_samples *samples, struct sl_sample sample)
{
	samples->samples = sl_rounds_grow(samples->samples, samples->count, sizeof sample);
	samples->samples[samples->count++] = sample;
	samples->sorted = false;
}

static void add_learner(struct sl_durations *durations, const json_t *lane, uint64_t round)
{
	double s[SL_PHASE_COUNT] = {0};
	const json_t *span;
	size_t i;
	json_array_foreach(json_object_get(lane, "spans"), i, span)
	{
		enum sl_phase phase = sl_durations_phase(json_string_value(json_object_get(span, "phase")));
		double duration = sl_durations_real(span, "to_s") - sl_durations_real(span, "from_s");
		if (phase < SL_PHASE_COUNT && !isnan(duration))
			s[phase] += duration;
	}
	for (int phase = 0; phase < SL_PHASE_COUNT; phase++)
		if (s[phase] > 0)
			add(&durations->phases[phase],
			    (struct sl_sample){s[phase], sl_durations_whole(lane, "learner"), round});
}

void sl_durations_add(struct sl_durations *durations, const json_t *document)
{
	const json_t *lane;
	size_t i;
	json_array_foreach(json_object_get(document, "learners_of_round"), i, lane)
		add_learner(durations, lane, sl_durations_whole(document, "round"));
}

static int by_seconds(const void *a, const void *b)
{
	const struct sl_sample *x = a, *y = b;
	if (x->s != y->s)
		return (x->s > y->s) - (x->s < y->s);
	return (x->learner < y->learner) - (x->learner > y->learner);
}

static void sort(struct sl_samples *samples)
{
	if (!samples->sorted && samples->count > 0)
		qsort(samples->samples, samples->count, sizeof *samples->samples, by_seconds);
	samples->sorted = true;
}

double sl_durations_quantile(struct sl_samples *samples, double q)
{
	sort(samples);
	size_t rank = (size_t)ceil(q * (double)samples->count);
	return samples->samples[rank > 0 ? rank - 1 : 0].s;
}

const struct sl_sample *sl_durations_largest(struct sl_samples *samples)
{
	sort(samples);
	return &samples->samples[samples->count - 1];
}

/* ---- the phases ---- */

json_t *sl_durations_json(struct sl_samples *samples)
{
	if (samples->count == 0)
		return json_null();
	const struct sl_sample *largest = sl_durations_largest(samples);
	return json_pack("{s:I, s:f, s:f, s:f, s:I}", "count", (json_int_t)samples->count, "p50_s",
			 sl_durations_quantile(samples, 0.5), "p95_s", sl_durations_quantile(samples, 0.95),
			 "max_s", largest->s, "round", (json_int_t)largest->round);
}

json_t *sl_durations_phases(struct sl_durations *durations)
{
	json_t *array = json_array();
	for (int phase = 0; phase < SL_PHASE_COUNT; phase++) {
		struct sl_samples *samples = &durations->phases[phase];
		char name[16];
		if (samples->count == 0)
			continue;
		sl_durations_phase_name((enum sl_phase)phase, name);
		json_t *object = sl_durations_json(samples);
		json_object_update_new(object, json_pack("{s:s, s:I}", "phase", name, "learner",
							 (json_int_t)sl_durations_largest(samples)->learner));
		json_array_append_new(array, object);
	}
	return array;
}

void sl_durations_print(FILE *out, const json_t *document, const json_t *phases, bool round)
{
	const struct sl_column columns[] = {{"phase", 12, true},  {round ? "times" : "learners", 10, false},
					    {"p50 s", 10, false}, {"p95 s", 10, false},
					    {"max s", 10, false}, {"by", 60, true}};
	enum { COLUMNS = sizeof columns / sizeof *columns };
	static const char *const seconds[] = {"p50_s", "p95_s", "max_s"};
	char line[SL_TABLE_LINE_BYTES], cells[COLUMNS][SL_CELL_BYTES], who[SL_DURATIONS_WHO_BYTES];
	const json_t *phase;
	size_t i;
	sl_table_header(columns, COLUMNS, line);
	fprintf(out, "\n%s\n", line);
	json_array_foreach(phases, i, phase)
	{
		sl_durations_who(document, sl_durations_whole(phase, "learner"), who);
		snprintf(cells[0], SL_CELL_BYTES, "%s", json_string_value(json_object_get(phase, "phase")));
		snprintf(cells[1], SL_CELL_BYTES, "%llu",
			 (unsigned long long)sl_durations_whole(phase, "count"));
		for (size_t k = 0; k < 3; k++)
			snprintf(cells[2 + k], SL_CELL_BYTES, "%.3f", sl_durations_real(phase, seconds[k]));
		snprintf(cells[5], SL_CELL_BYTES, "%.31s", who);
		sl_table_line(columns, COLUMNS, cells, line);
		fprintf(out, "%s", line);
		if (round)
			fprintf(out, ", round %llu", (unsigned long long)sl_durations_whole(phase, "round"));
		fputc('\n', out);
	}
}
