/* Rounds out of log records: test/data/logs has a run of ana (1), bo (2) and eve (3) on the line ana - bo -
 * eve. Round 1 needs two attempts, since eve is stopped; in round 2 ana trains for 4 s. */
#include "test/lib/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/report/record.h"
#include "tools/lib/log_files.h"
#include "tools/timeline/timeline.h"
#include "tools/timeline/trace.h"

#define LINES_MOST 200

static const char *const names[] = {"ana", "bo", "eve"};

/* Take up a record in JSON. */
static bool take(struct sl_timeline *timeline, const json_t *json)
{
	struct sl_record record;
	sl_record_read(&record, json);
	return sl_timeline_take(timeline, &record);
}

/* Read the records of one log; lines that are none are left out. */
static size_t read_log(const char *name, json_t **records)
{
	char path[512];
	char *line = NULL;
	size_t room = 0, n = 0;
	snprintf(path, sizeof path, "%s/test/data/logs/%s.jsonl", SL_SOURCE_ROOT, name);
	FILE *in = fopen(path, "r");
	assert_non_null(in);
	for (ssize_t length; (length = getline(&line, &room, in)) > 0;) {
		json_t *record = json_loadb(line, (size_t)length, 0, NULL);
		if (record != NULL)
			records[n++] = record;
		assert_true(n < LINES_MOST);
	}
	free(line);
	fclose(in);
	return n;
}

/* Feed the logs of the run; `way` 0: one after the other, 1: each backwards, and twice. Return how many
 * records were not taken. */
static size_t feed(struct sl_timeline *timeline, int way)
{
	size_t refused = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		json_t *records[LINES_MOST];
		size_t n = read_log(names[i], records);
		for (size_t k = 0; k < n; k++)
			refused += !take(timeline, records[way == 0 ? k : n - 1 - k]);
		for (size_t k = 0; way != 0 && k < n; k++)
			take(timeline, records[k]);
		for (size_t k = 0; k < n; k++)
			json_decref(records[k]);
	}
	return refused;
}

/* Expect that a part of `document` is the JSON `wanted`; `path` as "attempts.0.reason". */
static void expect(const json_t *document, const char *path, const char *wanted)
{
	char step[64];
	const json_t *at = document;
	for (const char *c = path; *c != '\0'; c += strcspn(c, "."), c += *c == '.') {
		snprintf(step, sizeof step, "%.*s", (int)strcspn(c, "."), c);
		at = json_is_array(at) ? json_array_get(at, (size_t)atoi(step)) : json_object_get(at, step);
	}
	char *text =
		at != NULL ? json_dumps(at, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(4)) : NULL;
	if (text == NULL || strcmp(text, wanted) != 0)
		print_error("%s is %s, not %s\n", path, text != NULL ? text : "absent", wanted);
	assert_true(text != NULL && strcmp(text, wanted) == 0);
	free(text);
}

TEST(changes_are_counted_per_round)
{
	struct sl_timeline *timeline = sl_timeline_new();
	json_t *records[LINES_MOST];
	size_t n = read_log("ana", records);
	assert_int_equal(sl_timeline_version(timeline), 0);
	for (size_t i = 0; i < n; i++)
		assert_true(take(timeline, records[i]));
	json_decref(sl_timeline_round_json(timeline, 1));
	uint64_t version = sl_timeline_version(timeline);
	assert_int_equal(sl_timeline_changed_since(timeline, version, 0), 0);
	assert_true(take(timeline, records[n - 1])); /* of round 2 */
	assert_int_equal(sl_timeline_changed_since(timeline, version, 0), 2);
	assert_int_equal(sl_timeline_changed_since(timeline, version, 2), 0);
	assert_int_equal(sl_timeline_changed_since(timeline, 0, 1), 2);
	assert_int_equal(sl_timeline_round_before(timeline, 1000000), 3);
	assert_int_equal(sl_timeline_round_before(timeline, 2), 1);
	assert_int_equal(sl_timeline_round_before(timeline, 1), 0);
	assert_null(sl_timeline_round_json(timeline, 4));
	json_object_set_new(records[0], "v", json_integer(2));
	assert_false(take(timeline, records[0]));
	for (size_t i = 0; i < n; i++)
		json_decref(records[i]);
	sl_timeline_free(timeline);
}

TEST(a_failed_privacy_check)
{
	struct sl_timeline *timeline = sl_timeline_new();
	json_t *record =
		json_pack("{s:i, s:s, s:f, s:s, s:i, s:s, s:s, s:i, s:i, s:s}", "v", 1, "time",
			  "2026-11-23T10:00:00.000Z", "mono_ms", 1000.0, "level", "warn", "learner", 1,
			  "event", "exposed", "text", "goes on", "round", 1, "attempt", 1, "name", "ana");
	feed(timeline, 0);
	assert_non_null(record);
	take(timeline, record);
	json_t *round = sl_timeline_round_json(timeline, 1);
	expect(round, "private", "false");
	json_decref(round);
	json_decref(record);
	sl_timeline_free(timeline);
}

static void start_ana(struct sl_timeline *timeline, const char *time, double mono_ms)
{
	json_t *record = json_pack("{s:i, s:s, s:f, s:s, s:i, s:s, s:s, s:i, s:s}", "v", 1, "time", time,
				   "mono_ms", mono_ms, "level", "info", "learner", 1, "event", "listening",
				   "text", "listening on h:1", "incarnation", 2, "name", "ana");
	assert_true(take(timeline, record));
	json_decref(record);
}

/* The first start is none; the log has it at 10.010. A start after a commit is of the next round. */
TEST(a_start_in_mid_run_is_told)
{
	struct sl_timeline *timeline = sl_timeline_new();
	feed(timeline, 0);
	json_t *before = sl_timeline_round_json(timeline, 1);
	expect(before, "learners_of_round.0.digest", "\"0123456789abcdef\"");
	assert_null(
		json_object_get(json_array_get(json_object_get(before, "learners_of_round"), 0), "restarts"));
	json_decref(before);
	for (int twice = 0; twice < 2; twice++)
		start_ana(timeline, "2026-11-23T10:00:01.470Z", 1001470);
	start_ana(timeline, "2026-11-23T10:00:13.452Z", 1013452);
	json_t *first = sl_timeline_round_json(timeline, 1), *second = sl_timeline_round_json(timeline, 2);
	expect(first, "learners_of_round.0.restarts",
	       "[{\"at\":\"2026-11-23T10:00:01.470Z\",\"at_s\":1.46,\"phase\":\"share\",\"attempt\":1}]");
	expect(second, "learners_of_round.0.restarts",
	       "[{\"at\":\"2026-11-23T10:00:13.452Z\",\"at_s\":13.44,\"phase\":null}]");
	json_decref(first);
	json_decref(second);
	sl_timeline_free(timeline);
}

TEST(a_failed_attempt_and_a_commit)
{
	struct sl_timeline *timeline = sl_timeline_new();
	assert_int_equal(feed(timeline, 0), 1); /* of version 2 */
	sl_timeline_name(timeline, "ward", 3);
	json_t *round = sl_timeline_round_json(timeline, 1);
	expect(round, "run", "\"ward\"");
	expect(round, "rounds", "3");
	expect(round, "learners.2", "{\"id\":3,\"name\":\"eve\"}");
	expect(round, "attempts.0.ended", "\"failed\"");
	expect(round, "attempts.0.reason", "\"no data came from eve (3) for 10 s\"");
	expect(round, "attempts.0.cut_vertices", "[2]");
	expect(round, "attempts.0.bridges", "[[1,2],[2,3]]");
	expect(round, "attempts.1.ended", "\"committed\"");
	expect(round, "attempts.1.reason", "null");
	expect(round, "attempts.1.edges", "[[1,2],[2,3]]");
	expect(round, "attempts.1.mixing", "\"forest\"");
	expect(round, "attempts.1.tolerance", "0");
	expect(round, "same", "true");
	expect(round, "private", "true");
	expect(round, "loss", "4.0");
	expect(round, "slowest.learner", "3");
	expect(round, "slowest.phase", "\"share\"");
	expect(round, "links", "[{\"a\":1,\"b\":2,\"bytes\":1900},{\"a\":2,\"b\":3,\"bytes\":1500}]");
	expect(round, "learners_of_round.0.spans.0",
	       "{\"phase\":\"train\",\"attempt\":1,\"from_s\":0.09,\"to_s\":1.09}");
	expect(round, "learners_of_round.0.digest", "\"0123456789abcdef\"");
	expect(round, "learners_of_round.1.waits.0.awaited", "[3]");
	expect(round, "learners_of_round.0.waits.0.for", "\"to receive shares and deposits\"");
	expect(round, "end_s", "13.44");
	expect(round, "clock_gap", "null");
	json_decref(round);
	round = sl_timeline_round_json(timeline, 2);
	expect(round, "start", "\"2026-11-23T10:00:13.453Z\"");
	expect(round, "slowest.learner", "1");
	expect(round, "slowest.phase", "\"train\"");
	json_decref(round);
	sl_timeline_free(timeline);
}

/* Times are relative to the first record of the run. */
TEST(an_earlier_record_changes_all_rounds)
{
	struct sl_timeline *timeline = sl_timeline_new();
	feed(timeline, 0);
	uint64_t version = sl_timeline_version(timeline);
	start_ana(timeline, "2026-11-23T09:59:59.010Z", 999010);
	assert_int_equal(sl_timeline_changed_since(timeline, version, 0), 1);
	json_t *run = sl_timeline_run_json(timeline), *round = sl_timeline_round_json(timeline, 1);
	expect(run, "start", "\"2026-11-23T09:59:59.010Z\"");
	expect(round, "end_s", "14.44");
	json_decref(run);
	json_decref(round);
	sl_timeline_free(timeline);
}

TEST(a_time_with_a_fraction_of_more_than_a_second)
{
	assert_true(sl_log_files_time("2026-11-23T10:00:06.125Z") > 0);
	assert_true(isnan(sl_log_files_time("2026-11-23T10:00:06.9e300Z")));
}

/* Take a record of phase SHARE. */
static bool take_share(struct sl_timeline *timeline, uint64_t learner, uint64_t round)
{
	json_t *record =
		json_pack("{s:i, s:I, s:I, s:s, s:s, s:s, s:i}", "v", SL_RECORDS_VERSION, "learner",
			  (json_int_t)learner, "round", (json_int_t)round, "time", "2026-11-23T10:00:00.000Z",
			  "event", "phase", "phase", "SHARE", "attempt", 1);
	bool taken = take(timeline, record);
	json_decref(record);
	return taken;
}

TEST(a_bounded_timeline_keeps_the_last_rounds)
{
	struct sl_timeline *timeline = sl_timeline_new();
	uint64_t kept = 0;
	sl_timeline_bound(timeline, 80);
	for (uint64_t t = 1; t <= 1000; t++)
		for (uint64_t learner = 1; learner <= 2; learner++)
			assert_true(take_share(timeline, learner, t));
	assert_true(take_share(timeline, 1, 1));
	for (uint64_t t = 1001; (t = sl_timeline_round_before(timeline, t)) != 0;)
		assert_int_equal(t, 1000 - kept++);
	assert_in_range(kept, 35, 40);
	sl_timeline_free(timeline);
}

TEST(more_learners_than_a_roster_has)
{
	struct sl_timeline *timeline = sl_timeline_new();
	for (uint64_t learner = 1; learner <= SL_LEARNERS_MAX; learner++)
		assert_true(take_share(timeline, learner, 1));
	assert_false(take_share(timeline, SL_LEARNERS_MAX + 1, 1));
	assert_true(take_share(timeline, SL_LEARNERS_MAX, 2));
	sl_timeline_free(timeline);
}

TEST(the_trace_of_a_log_with_an_absurd_wait)
{
	struct sl_timeline *timeline = sl_timeline_new();
	json_t *record = json_pack("{s:i, s:i, s:i, s:s, s:f, s:s, s:s}", "v", SL_RECORDS_VERSION, "learner",
				   1, "round", 1, "time", "2026-11-23T10:00:00.000Z", "waited_s", 1e308,
				   "event", "waiting", "phase", "SHARE");
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_true(take_share(timeline, 1, 1) && take(timeline, record));
	sl_trace_write(out, timeline);
	fclose(out);
	json_t *trace = json_loadb(text, size, 0, NULL);
	assert_non_null(trace);
	json_decref(trace);
	free(text);
	json_decref(record);
	sl_timeline_free(timeline);
}

TEST(the_order_of_records_does_not_matter)
{
	struct sl_timeline *forwards = sl_timeline_new(), *backwards = sl_timeline_new();
	feed(forwards, 0);
	feed(backwards, 1);
	for (uint64_t t = 1; t <= 2; t++) {
		json_t *x = sl_timeline_round_json(forwards, t), *y = sl_timeline_round_json(backwards, t);
		assert_true(json_equal(x, y));
		json_decref(x);
		json_decref(y);
	}
	sl_timeline_free(forwards);
	sl_timeline_free(backwards);
}

/* A log of one learner tells of its own links only, so nothing is said of what separates the graph. */
TEST(one_log_alone)
{
	struct sl_timeline *timeline = sl_timeline_new();
	json_t *records[LINES_MOST];
	size_t n = read_log("eve", records);
	for (size_t i = 0; i < n; i++) {
		take(timeline, records[i]);
		json_decref(records[i]);
	}
	json_t *round = sl_timeline_round_json(timeline, 1);
	expect(round, "attempts.1.edges", "[[2,3]]");
	expect(round, "attempts.1.edge_count", "2");
	assert_null(json_object_get(json_array_get(json_object_get(round, "attempts"), 1), "cut_vertices"));
	expect(round, "links", "[{\"a\":2,\"b\":3,\"bytes\":1500}]");
	json_decref(round);
	sl_timeline_free(timeline);
}

/* An open attempt, phase or wait has no end, and the document names the awaited learners. */
TEST(a_round_that_goes_on)
{
	struct sl_timeline *timeline = sl_timeline_new();
	json_t *records[LINES_MOST];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t n = read_log(names[i], records);
		for (size_t k = 0; k < n; k++) {
			if (sl_log_files_time(json_string_value(json_object_get(records[k], "time"))) <
			    sl_log_files_time("2026-11-23T10:00:05.000Z"))
				take(timeline, records[k]);
			json_decref(records[k]);
		}
	}
	json_t *round = sl_timeline_round_json(timeline, 1);
	expect(round, "end_s", "null");
	expect(round, "same", "null");
	expect(round, "private", "null");
	expect(round, "attempts.0.ended", "null");
	expect(round, "learners_of_round.1.spans.3.phase", "\"share\"");
	expect(round, "learners_of_round.1.spans.3.to_s", "null");
	expect(round, "learners_of_round.1.waits.0.to_s", "null");
	expect(round, "slowest.learner", "3");
	json_decref(round);
	sl_timeline_free(timeline);
}

/* ---- rounds in short: "LEARNER SECONDS EVENT [ATTEMPT PHASE [AWAITED WAITED_S]]", and for a commit
 * "LEARNER SECONDS committed ATTEMPT DIGEST 0 MARGIN" ---- */

static json_t *short_round(const char *const *lines)
{
	struct sl_timeline *timeline = sl_timeline_new();
	for (; *lines != NULL; lines++) {
		int learner, attempt = 0, awaited = 0;
		double s, waited_s = 0;
		char event[16], phase[16] = "", time[40];
		assert_true(sscanf(*lines, "%d %lf %15s %d %15s %d %lf", &learner, &s, event, &attempt, phase,
				   &awaited, &waited_s) >= 3);
		snprintf(time, sizeof time, "2026-11-23T10:00:%06.3fZ", s);
		json_t *record = json_pack("{s:i, s:s, s:f, s:i, s:s, s:i}", "v", 1, "time", time, "mono_ms",
					   1000 * s, "learner", learner, "event", event, "round", 1);
		if (attempt > 0)
			json_object_set_new(record, "attempt", json_integer(attempt));
		if (strcmp(event, "view") == 0)
			json_object_update_new(record, json_pack("{s:s, s:[i, i], s:[i], s:i}", "view", phase,
								 "participants", 1, 2, "neighbours",
								 3 - learner, "edges", 1));
		else if (strcmp(event, "committed") == 0 && phase[0] != '\0')
			json_object_update_new(record,
					       json_pack("{s:s, s:f}", "digest", phase, "margin", waited_s));
		else if (strcmp(event, "attempt_failed") == 0)
			json_object_set_new(record, "reason", json_string(phase));
		else if (phase[0] != '\0')
			json_object_set_new(record, "phase", json_string(phase));
		if (awaited > 0)
			json_object_update_new(record, json_pack("{s:s, s:[i], s:f}", "for", "to send",
								 "awaited", awaited, "waited_s", waited_s));
		assert_true(take(timeline, record));
		json_decref(record);
	}
	json_t *round = sl_timeline_round_json(timeline, 1);
	sl_timeline_free(timeline);
	return round;
}

/* A learner that was stopped ends the attempt late, and then receives the result: neither changes when the
 * attempt ended, nor leaves one open. It is the slowest, though no wait was logged. */
TEST(a_stopped_learner_receives_the_result)
{
	static const char *const lines[] = {"1 0 phase 1 AGREE",
					    "2 0 phase 1 AGREE",
					    "1 1 view 1 a",
					    "2 1 view 1 a",
					    "1 1 phase 1 SHARE",
					    "2 1 phase 1 SHARE",
					    "1 5 attempt_failed 1 lost",
					    "1 5 phase 2 AGREE",
					    "1 6 view 2 b",
					    "1 6 phase 2 SHARE",
					    "1 7 committed 2",
					    "1 7 phase 2 TRAIN",
					    "2 30 attempt_failed 1 aborted",
					    "2 30 phase 3 DISCOVER",
					    "2 31 phase 3 CATCHUP",
					    "2 32 caught_up",
					    "2 32 phase 4 TRAIN",
					    NULL};
	json_t *round = short_round(lines);
	expect(round, "attempts.0.to_s", "5.0");
	expect(round, "attempts.0.reason", "\"lost\"");
	expect(round, "attempts.1.ended", "\"committed\"");
	expect(round, "attempts.1.to_s", "7.0");
	expect(round, "attempts.2.ended", "\"failed\"");
	expect(round, "attempts.2.reason", "\"its learners received the result of the round from peers\"");
	assert_int_equal(json_array_size(json_object_get(round, "attempts")), 3);
	expect(round, "learners_of_round.1.adopted", "true");
	expect(round, "learners_of_round.1.committed_s", "32.0");
	expect(round, "slowest", "{\"learner\":2,\"phase\":\"share\",\"s\":29.0}");
	json_decref(round);
}

/* The clock of 2 is 5 s ahead: it enters READY after 1 has left it, and CHECK likewise. Who goes on without
 * all others shows nothing. */
TEST(clocks_that_differ_are_told)
{
	static const char *const ahead[] = {"1 0 view 1 a",
					    "2 5 view 1 a",
					    "1 1 phase 1 READY",
					    "2 6 phase 1 READY",
					    "1 1.5 phase 1 RELEASE",
					    "2 6.5 phase 1 RELEASE",
					    "1 2 phase 1 CHECK",
					    "2 7.9 phase 1 CHECK",
					    "1 3 phase 1 CONFIRM",
					    "2 8 phase 1 CONFIRM",
					    NULL};
	static const char *const recovers[] = {
		"1 0 view 1 a",	       "2 1 view 1 a",	    "1 2 phase 1 CHECK",     "1 3 phase 1 RECOVER",
		"1 4 phase 1 CONFIRM", "2 9 phase 1 CHECK", "2 9.5 phase 1 CONFIRM", NULL};
	json_t *round = short_round(ahead);
	expect(round, "clock_gap", "{\"ahead\":2,\"behind\":1,\"s\":4.9}");
	json_decref(round);
	round = short_round(recovers);
	expect(round, "clock_gap", "null");
	json_decref(round);
}

/* 2 is stopped from 0.4 s to 20 s, and then believes that it waited for 1. 3 waits for 1, which waits for 2
 * itself. */
TEST(what_causes_a_wait)
{
	static const char *const lines[] = {"1 0 phase 1 SHARE",	 "2 0 phase 1 SHARE",
					    "3 0 phase 1 SHARE",	 "1 0.5 phase 1 READY",
					    "3 0.6 phase 1 READY",	 "1 1.5 waiting 1 READY 2 1.0",
					    "3 1.6 phase 1 RELEASE",	 "3 1.7 phase 1 MIX",
					    "3 2.7 waiting 1 MIX 1 1.0", "2 20 waiting 1 SHARE 1 20",
					    "2 20.1 phase 1 READY",	 "1 21 phase 1 RELEASE",
					    "1 21.1 phase 1 MIX",	 "1 22 phase 1 CONFIRM",
					    "3 22 phase 1 CONFIRM",	 NULL};
	json_t *round = short_round(lines);
	expect(round, "slowest", "{\"learner\":2,\"phase\":\"share\",\"s\":20.1}");
	expect(round, "learners_of_round.0.waits.0.causes", "[{\"learner\":2,\"s\":19.6}]");
	expect(round, "learners_of_round.0.waits.0.stood_still", "false");
	expect(round, "learners_of_round.1.waits.0.causes", "[]");
	expect(round, "learners_of_round.1.waits.0.stood_still", "true");
	expect(round, "learners_of_round.2.waits.0.causes", "[{\"learner\":1,\"s\":1.0}]");
	json_decref(round);
}

/* Hand over the record that a learner writes when its states are mixed. */
static void mixed(struct sl_timeline *timeline, int learner, sl_attempt attempt, struct sl_spreads spreads)
{
	const struct sl_report report = {.kind = SL_REPORT_MIXED,
					 .t = 1,
					 .a = attempt,
					 .mixed = {.exchanges = 80, .spreads = &spreads}};
	const struct sl_roster roster = {0};
	struct sl_record record;
	char text[SL_RECORD_TEXT_BYTES];
	sl_record_report(&record, &report, &roster);
	json_t *object = sl_record_write(&record, &roster, text, sizeof text);
	json_object_update_new(object, json_pack("{s:i, s:s, s:f, s:s, s:i, s:s, s:s}", "v", 1, "time",
						 "2026-11-23T10:00:00.000Z", "mono_ms", 1000.0, "level",
						 "info", "learner", learner, "event",
						 sl_record_event(record.kind), "text", text));
	assert_true(take(timeline, object));
	json_decref(object);
}

/* The largest spread of all learners counts, of the last attempt. */
TEST(how_the_states_converge)
{
	struct sl_timeline *timeline = sl_timeline_new();
	mixed(timeline, 1, 1, (struct sl_spreads){3, {{0, 9e9, 9e9}, {2, 9, 9}, {4, 9, 9}}});
	mixed(timeline, 1, 2, (struct sl_spreads){2, {{0, 1e9, 2e9}, {79, 0.25, 0.5}}});
	mixed(timeline, 2, 2, (struct sl_spreads){3, {{0, 1.5e9, 2e9}, {40, 7, 8}, {79, 0.125, 0.5}}});
	mixed(timeline, 3, 1, (struct sl_spreads){1, {{0, 8e9, 9e9}}});
	json_t *round = sl_timeline_round_json(timeline, 1);
	expect(round, "spread",
	       "[{\"step\":0,\"spread\":1.5e9,\"bound\":2e9},{\"step\":40,\"spread\":7.0,\"bound\":8.0},"
	       "{\"step\":79,\"spread\":0.25,\"bound\":0.5}]");
	json_decref(round);
	sl_timeline_free(timeline);
}

/* The model is the same if all that committed have it, and no rounding was near a tie. */
TEST(the_same_model)
{
	static const struct {
		const char *const lines[4];
		const char *same;
	} cases[] = {
		{{"1 0 phase 1 MIX", "2 0 phase 1 MIX", NULL}, "null"},
		{{"1 1 committed 1 aa 0 0.1", "2 0 phase 1 MIX", NULL}, "true"},
		{{"1 1 committed 1 aa 0 0.1", "2 1 committed 1 aa 0 0.1", NULL}, "true"},
		{{"1 1 committed 1 aa 0 0.1", "2 1 committed 1 ab 0 0.1", NULL}, "false"},
		{{"1 1 committed 1 aa 0 0.1", "2 1 committed 1 aa 0 0.4", NULL}, "false"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		json_t *round = short_round(cases[i].lines);
		expect(round, "same", cases[i].same);
		json_decref(round);
	}
}

/* On a ring of four no learner separates others. */
TEST(a_ring_has_no_cut_vertex)
{
	struct sl_timeline *timeline = sl_timeline_new();
	for (int id = 1; id <= 4; id++) {
		json_t *view = json_pack(
			"{s:i, s:s, s:f, s:i, s:s, s:i, s:i, s:s, s:[i, i, i, i], s:[i, i], s:i, s:i}", "v",
			1, "time", "2026-11-23T10:00:01.000Z", "mono_ms", 1000.0, "learner", id, "event",
			"view", "round", 1, "attempt", 1, "view", "a", "participants", 1, 2, 3, 4,
			"neighbours", id % 4 + 1, (id + 2) % 4 + 1, "edges", 4, "atom", id == 2 ? 3 : 4);
		assert_true(take(timeline, view));
		json_decref(view);
	}
	json_t *round = sl_timeline_round_json(timeline, 1);
	expect(round, "attempts.0.edges", "[[1,2],[1,4],[2,3],[3,4]]");
	expect(round, "attempts.0.atom", "3"); /* the least of all */
	expect(round, "attempts.0.cut_vertices", "[]");
	expect(round, "attempts.0.bridges", "[]");
	json_decref(round);
	sl_timeline_free(timeline);
}
