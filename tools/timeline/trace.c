#include "tools/timeline/trace.h"

#include <math.h>
#include <string.h>

#include "tools/timeline/durations.h"

#define TRACK_PHASES 1
#define TRACK_WAITS 2

struct trace {
	FILE *out;
	bool begun;
	double end_s; /* of what goes on: the last record */
};

/* Write an event; NULL: the logs are broken, and one of its times is no number. */
static void put(struct trace *trace, json_t *event)
{
	if (event == NULL)
		return;
	fputs(trace->begun ? ",\n" : "\n", trace->out);
	json_dumpf(event, trace->out, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(event);
	trace->begun = true;
}

static void put_name(struct trace *trace, const char *what, uint64_t learner, int track, const char *name)
{
	put(trace, json_pack("{s:s, s:s, s:I, s:i, s:{s:s}}", "ph", "M", "name", what, "pid",
			     (json_int_t)learner, "tid", track, "args", "name", name));
}

static double microseconds(double s)
{
	return round(s * 1e6);
}

/* Return the end of slice `i` of a track: at the latest where another begins, since slices that overlap in
 * part are not shown. The times of waits are rounded. */
static double end_of(const struct trace *trace, const json_t *slices, size_t i)
{
	const json_t *slice = json_array_get(slices, i), *other;
	double from = sl_durations_real(slice, "from_s"), to = sl_durations_real(slice, "to_s");
	size_t k;
	if (isnan(to))
		to = fmax(from, trace->end_s);
	json_array_foreach(slices, k, other)
	{
		double begins = sl_durations_real(other, "from_s");
		if (begins > from && begins < to)
			to = begins;
	}
	return to;
}

/* Write slice `i` of a track. */
static void put_slice(struct trace *trace, const char *name, uint64_t learner, int track,
		      const json_t *slices, size_t i, json_t *args)
{
	double from = sl_durations_real(json_array_get(slices, i), "from_s"), to = end_of(trace, slices, i);
	put(trace, json_pack("{s:s, s:s, s:I, s:i, s:f, s:f, s:o}", "ph", "X", "name", name, "pid",
			     (json_int_t)learner, "tid", track, "ts", microseconds(from), "dur",
			     microseconds(to) - microseconds(from), "args", args));
}

static void put_lane(struct trace *trace, const json_t *lane, uint64_t round)
{
	const json_t *slice, *spans = json_object_get(lane, "spans"), *waits = json_object_get(lane, "waits");
	uint64_t learner = sl_durations_whole(lane, "learner");
	double committed_s = sl_durations_real(lane, "committed_s");
	size_t i;
	json_array_foreach(spans, i, slice) put_slice(
		trace, json_string_value(json_object_get(slice, "phase")), learner, TRACK_PHASES, spans, i,
		json_pack("{s:I, s:O}", "round", (json_int_t)round, "attempt",
			  json_object_get(slice, "attempt")));
	json_array_foreach(waits, i, slice)
	{
		const char *what = json_string_value(json_object_get(slice, "for"));
		put_slice(trace, what != NULL ? what : "wait", learner, TRACK_WAITS, waits, i,
			  json_pack("{s:I, s:O}", "round", (json_int_t)round, "awaited",
				    json_object_get(slice, "awaited")));
	}
	if (!isnan(committed_s))
		put(trace, json_pack("{s:s, s:s, s:s, s:I, s:i, s:f, s:{s:I}}", "ph", "i", "s", "p", "name",
				     json_is_true(json_object_get(lane, "adopted")) ? "adopted" : "committed",
				     "pid", (json_int_t)learner, "tid", TRACK_PHASES, "ts",
				     microseconds(committed_s), "args", "round", (json_int_t)round));
}

void sl_trace_write(FILE *out, struct sl_timeline *timeline)
{
	json_t *run = sl_timeline_run_json(timeline), *item;
	struct trace trace = {.out = out, .end_s = sl_durations_real(run, "end_s")};
	char who[SL_DURATIONS_WHO_BYTES];
	size_t i;
	fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
	json_array_foreach(json_object_get(run, "learners"), i, item)
	{
		uint64_t learner = sl_durations_whole(item, "id");
		sl_durations_who(run, learner, who);
		put_name(&trace, "process_name", learner, 0, who);
		put_name(&trace, "thread_name", learner, TRACK_PHASES, "phases");
		put_name(&trace, "thread_name", learner, TRACK_WAITS, "waits");
	}
	for (uint64_t t = 0; (t = sl_timeline_changed_since(timeline, 0, t)) != 0;) {
		json_t *document = sl_timeline_round_json(timeline, t);
		json_array_foreach(json_object_get(document, "learners_of_round"), i, item)
			put_lane(&trace, item, t);
		json_decref(document);
	}
	fputs("\n]}\n", out);
	json_decref(run);
}
