/* The table of log records: its rows are sound, and what is written reads back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sodium.h>

#include "common/report/record.h"
#include "test/lib/test.h"

static struct sl_member members[] = {
	{.id = 2, .name = "ana"}, {.id = 5, .name = "bo"}, {.id = 9, .name = "cy"}};
static const struct sl_roster roster = {.members = members, .size = 3};
static const uint64_t two = 6;

static char sentence[SL_RECORD_TEXT_BYTES];

/* Write the record of a report, and read it back as a daemon's log has it. */
static json_t *written(const struct sl_report *report, struct sl_record *read)
{
	struct sl_record record;
	sl_record_report(&record, report, &roster);
	json_t *object = sl_record_write(&record, &roster, sentence, sizeof sentence);
	json_object_set_new(object, "event", json_string(sl_record_event(record.kind)));
	sl_record_read(read, object);
	return object;
}

static const struct {
	const char *kind, *event, *fields;
} rows[] = {
#define X(kind, event, level, fields, sentence) {#kind, event, fields},
	SL_RECORDS(X)
#undef X
};

static int prepare(void **state)
{
	(void)state;
	return sodium_init() < 0;
}
TEST_SETUP(prepare, NULL)

/* Every row writes a sentence and exactly its fields; a wrong name would end the program. */
TEST(test_rows)
{
	for (int kind = 0; kind < SL_RECORD_COUNT; kind++) {
		struct sl_record record, read;
		sl_record_init(&record, (enum sl_record_kind)kind);
		record.reason = "because";
		json_t *object = sl_record_write(&record, &roster, sentence, sizeof sentence);
		assert_true(strlen(sentence) > 0 && strpbrk(sentence, "{}|") == NULL);
		json_object_set_new(object, "event", json_string(rows[kind].event));
		assert_true(sl_record_read(&read, object));
		assert_string_equal(rows[read.kind].event, rows[kind].event);
		assert_true((read.has[SL_FIELD_reason] != NULL) ==
			    (strstr(rows[kind].fields, "reason") != NULL));
		json_decref(object);
	}
}

/* Rows of one event stand together, and the first has its name: that is what reading gives. */
/* A key has one meaning and one type. */
TEST(test_keys)
{
	static const char *const keys[] = {
#define X(field, name, type) name,
		SL_RECORD_FIELDS(X)
#undef X
	};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		for (size_t k = 0; k < i && *keys[i] != '\0'; k++)
			assert_string_not_equal(keys[i], keys[k]);
}

TEST(test_first_row_of_an_event)
{
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		bool first = true;
		for (size_t earlier = 0; earlier < k; earlier++)
			first = first && strcmp(rows[earlier].event, rows[k].event) != 0;
		if (first)
			assert_true(strcasecmp(rows[k].kind, rows[k].event) == 0);
		else
			assert_string_equal(rows[k - 1].event, rows[k].event);
	}
}

TEST(test_commit)
{
	struct sl_report report = {.kind = SL_REPORT_COMMITTED, .phase = SL_PHASE_COMMIT, .t = 3, .a = 2};
	report.committed.learners = 5;
	report.committed.edges = 7;
	report.committed.exchanges = 4;
	report.committed.engine = SL_ENGINE_EXACT;
	report.committed.margin = 0;
	report.committed.elapsed = 1230;
	report.committed.digest[0] = 0xab;
	struct sl_record read;
	json_t *object = written(&report, &read);
	assert_string_equal(sentence, "round 3 committed: 5 learners, exact, 4 exchanges, margin 0.0000, "
				      "1.23 s, model ab0000000000");
	assert_int_equal(read.kind, SL_RECORD_COMMITTED);
	assert_true(read.round == 3 && read.attempt == 2 && read.learners == 5 && read.edges == 7 &&
		    read.steps == 4);
	assert_true(isnan(read.mu) && json_is_null(json_object_get(object, "mu")));
	assert_true(read.aggregate_s == 1.23 && read.margin == 0);
	assert_int_equal(strlen(read.digest), 2 * SL_HASH_BYTES);
	assert_null(json_object_get(object, "phases")); /* the daemon measures them */
	json_decref(object);
	report.committed.engine = SL_ENGINE_METROPOLIS;
	report.committed.mu = 0.5;
	object = written(&report, &read);
	assert_true(read.mu == 0.5 && strstr(sentence, "metropolis, mu 0.5000, K 4, margin") != NULL);
	json_decref(object);
}

/* The spreads are arrays of three numbers, as far as they go. */
TEST(test_mixed)
{
	struct sl_spreads spreads = {.count = 2, .points = {{0, 1.2e10, 3.4e10}, {79, 0.0031, 0.8}}};
	const struct sl_report report = {
		.kind = SL_REPORT_MIXED, .t = 3, .a = 2, .mixed = {.exchanges = 80, .spreads = &spreads}};
	struct sl_record read;
	json_t *object = written(&report, &read);
	assert_string_equal(
		sentence,
		"round 3 attempt 2: mixed; spread of the states 1.2e+10 before exchange 1 and 0.0031 "
		"before exchange 80, the last");
	assert_true(read.kind == SL_RECORD_MIXED && read.has[SL_FIELD_spread] && read.steps == 80);
	char *text = json_dumps(json_object_get(object, "spread"), JSON_COMPACT | JSON_REAL_PRECISION(15));
	assert_string_equal(text, "[[0,12000000000.0,34000000000.0],[79,0.0031,0.8]]");
	free(text);
	json_decref(object);
}

static void expect_encoded(uint64_t vanished, double rounding, double update, const char *level,
			   const char *text)
{
	const struct sl_report report = {.kind = SL_REPORT_ENCODED,
					 .t = 2,
					 .encoded = {.step = 1e-7,
						     .n = 1000,
						     .vanished = vanished,
						     .rounding = rounding,
						     .update = update}};
	struct sl_record record;
	sl_record_report(&record, &report, &roster);
	json_decref(sl_record_write(&record, &roster, sentence, sizeof sentence));
	assert_string_equal(sentence, text);
	assert_string_equal(sl_level_name(sl_record_level(&record)), level);
}

/* A tensor that is rounded to 0 as a whole is named, however few values it has. */
TEST(test_frozen)
{
	struct sl_report report = {
		.kind = SL_REPORT_ENCODED,
		.t = 3,
		.encoded = {
			.values = SL_VALUES_EXACT, .n = 1000, .vanished = 1, .frozen = 2, .first_frozen = 4}};
	struct sl_record record;
	sl_record_report(&record, &report, &roster);
	assert_string_equal(record.tensor, "5");
	record.tensor = "bias";
	json_decref(sl_record_write(&record, &roster, sentence, sizeof sentence));
	assert_string_equal(
		sentence, "round 3: all values of the tensor bias are too small for an exact round and are 0 "
			  "in it (such tensors: 2): scale them up");
	assert_int_equal(sl_record_level(&record), SL_WARN);
	report.encoded.values = SL_VALUES_MODEL;
	report.encoded.step = 0.25;
	sl_record_report(&record, &report, &roster);
	json_decref(sl_record_write(&record, &roster, sentence, sizeof sentence));
	assert_string_equal(sentence,
			    "round 3: the trained tensor 5 is 0 as a whole at the quantization step 0.25 "
			    "(such tensors: 2): raise decimals");
}

/* Small weights do not vanish silently: from more than 1 % on there is a warning. */
TEST(test_encoded)
{
	expect_encoded(
		10, 5e-8, 2.5e-3, "info",
		"round 2: quantization step 1e-07; largest rounding error 0.002 % of the largest update");
	expect_encoded(0, 5e-8, NAN, "info",
		       "round 2: quantization step 1e-07; largest rounding error 5e-08");
	expect_encoded(0, 5e-8, 0, "info", "round 2: quantization step 1e-07; largest rounding error 5e-08");
	expect_encoded(0, 5e-8, 5e-6, "info",
		       "round 2: quantization step 1e-07; largest rounding error 1 % of the largest update");
	expect_encoded(0, 5e-8, 4e-6, "warn",
		       "round 2: the quantization step 1e-07 is coarse: largest rounding error 1 % of the "
		       "largest update; either training has converged, or decimals is too low: then raise "
		       "it");
	expect_encoded(
		11, 5e-8, 1, "warn",
		"round 2: 11 values of the model that were not 0 are 0 at the quantization step 1e-07: "
		"raise decimals");
}

static void expect_waiting(enum sl_wait wait, const uint64_t *set, bool overdue, const char *obstacle,
			   const char *text)
{
	struct sl_record record, read;
	sl_record_waiting(&record, wait, set, overdue, obstacle, &roster);
	record.round = 3;
	record.attempt = 1;
	json_t *object = sl_record_write(&record, &roster, sentence, sizeof sentence);
	json_object_set_new(object, "event", json_string(sl_record_event(record.kind)));
	sl_record_read(&read, object);
	assert_string_equal(sentence, text);
	assert_int_equal(sl_record_level(&record), overdue ? SL_WARN : SL_INFO);
	assert_int_equal(read.kind, SL_RECORD_WAITING);
	assert_string_equal(read.waits_for, sl_wait_words(wait));
	assert_int_equal(json_array_size(read.has[SL_FIELD_awaited]), *set == 0 ? 0 : 2);
	assert_string_equal(read.reason != NULL ? read.reason : "", obstacle);
	json_decref(object);
}

/* A wait is a warning when it is overdue: learners train for different times. */
TEST(test_waiting)
{
	const uint64_t none = 0;
	expect_waiting(SL_WAIT_RANGE, &none, false, "", "round 3: waiting for the list of learners in range");
	expect_waiting(SL_WAIT_CHANGE, &none, true, "",
		       "round 3: waiting for other links or settings, since the last attempt was refused");
	expect_waiting(SL_WAIT_READINESS, &two, false, "", "round 3: waiting for bo (5), cy (9) to be ready");
	expect_waiting(SL_WAIT_READINESS, &two, true, "", "round 3: waiting for bo (5), cy (9) to be ready");
	expect_waiting(SL_WAIT_DEPOSITS, &two, false, "",
		       "round 3: waiting for bo (5), cy (9) to send deposits and deposit keys");
	expect_waiting(SL_WAIT_DEPOSITS, &two, true, "",
		       "round 3 attempt 1: no linked learner has the deposit or the deposit key of bo (5), "
		       "cy (9); the "
		       "attempt goes on when one that "
		       "has it connects. If none ever will: starling abort --round 3 --control ");
	expect_waiting(SL_WAIT_DEPOSITS, &none, false, "", "round 3: collecting deposits and deposit keys");
	expect_waiting(SL_WAIT_CHANGE, &none, true, "2 learners are too few",
		       "round 3: waiting for other links or settings, since the last attempt was refused: 2 "
		       "learners are too few");
	expect_waiting(SL_WAIT_READINESS, &two, false, "start them",
		       "round 3: waiting for bo (5), cy (9) to be ready: start them");
}

TEST(test_waited)
{
	const uint64_t none = 0;
	struct sl_record record;
	sl_record_waited(&record, SL_WAIT_READINESS, &two, &roster);
	record.round = 3;
	record.waited_s = 20;
	json_t *object = sl_record_write(&record, &roster, sentence, sizeof sentence);
	assert_string_equal(sentence, "round 3: waited 20.0 s for bo (5), cy (9) to be ready");
	assert_int_equal(json_array_size(json_object_get(object, "awaited")), 2);
	json_decref(object);
	sl_record_waited(&record, SL_WAIT_DISK, &none, &roster);
	record.waited_s = 1.5;
	json_decref(sl_record_write(&record, &roster, sentence, sizeof sentence));
	assert_string_equal(sentence, "round 0: waited 1.5 s for its disk");
}

/* A view names itself, its participants and the neighbours; durations have microseconds. */
TEST(test_view)
{
	static const uint8_t h[SL_HASH_BYTES] = {0xab, 0xcd, [7] = 0xef, [8] = 0x11};
	const uint64_t all = 7;
	struct sl_record record;
	struct sl_report report = {.kind = SL_REPORT_VIEW, .t = 3, .a = 1, .set = &two};
	report.view.h = h;
	report.view.participants = &all;
	report.view.tolerance = 1;
	sl_record_report(&record, &report, &roster);
	record.forecast_s = 0.1234567891;
	json_t *object = sl_record_write(&record, &roster, sentence, sizeof sentence);
	assert_string_equal(json_string_value(json_object_get(object, "view")), "abcd0000000000ef");
	assert_int_equal(json_array_size(json_object_get(object, "participants")), 3);
	assert_int_equal(json_array_size(json_object_get(object, "neighbours")), 2);
	assert_int_equal(json_integer_value(json_object_get(object, "tolerance")), 1);
	assert_true(json_real_value(json_object_get(object, "forecast_s")) == 0.123457);
	json_decref(object);
}

static void expect_record(struct sl_report report, const char *event, enum sl_level level, const char *text)
{
	struct sl_record read;
	report.t = 3;
	report.a = 1;
	json_t *object = written(&report, &read);
	assert_string_equal(sentence, text);
	assert_string_equal(read.event, event);
	sl_record_report(&read, &report, &roster);
	assert_int_equal(sl_record_level(&read), level);
	json_decref(object);
}

TEST(test_zeroed)
{
	expect_record((struct sl_report){.kind = SL_REPORT_FAILED,
					 .reason = SL_REASON_ZEROED,
					 .phase = SL_PHASE_SHARE,
					 .why.model = {.index = 4}},
		      "fatal", SL_ERROR,
		      "round 3 attempt 1 ended in SHARE: trained, and rounded to 0 as a whole by all "
		      "learners in each of the last three rounds: raise decimals at all learners, or set "
		      "rounded_to_zero: warn");
}

TEST(test_sentences_on_ranges)
{
	expect_record((struct sl_report){.kind = SL_REPORT_CLAMPED, .clamped = {7, false, 0.5}}, "clamped",
		      SL_WARN, "7 parameters were clamped to clipping_range 0.5");
	expect_record((struct sl_report){.kind = SL_REPORT_CLAMPED, .clamped = {7, true, 1}}, "clamped",
		      SL_WARN,
		      "round 3: 7 values of the update are beyond the ranges of their tensors and are cut: "
		      "this learner changes more than the others (train it less in a round, or set values: "
		      "model), or all more than before; then the ranges follow");
	expect_record(
		(struct sl_report){.kind = SL_REPORT_ENCODED,
				   .encoded = {.values = SL_VALUES_UPDATE,
					       .n = 10,
					       .vanished = 9,
					       .rounding = 0.25,
					       .update = 0.5}},
		"encoded", SL_INFO,
		"round 3: largest rounding error 5e+01 % of the largest update, which goes into the next "
		"update");
}

TEST(test_sentences)
{
	expect_record(
		(struct sl_report){.kind = SL_REPORT_LEFT_OUT,
				   .reason = SL_REASON_OTHER_MODEL,
				   .peer = 1,
				   .why.other = {.model = true, .own_n = 8, .their_n = 7}},
		"left_out", SL_WARN,
		"round 3 attempt 1 leaves learners out: bo (5) has a model of size 7, this learner one of "
		"size 8; start the same program with the same settings at all learners");
	expect_record((struct sl_report){.kind = SL_REPORT_FAILED,
					 .reason = SL_REASON_LINK,
					 .phase = SL_PHASE_SHARE,
					 .peer = 1},
		      "attempt_failed", SL_WARN,
		      "round 3 attempt 1 ended in SHARE: the link to bo (5) was lost");
	expect_record((struct sl_report){.kind = SL_REPORT_FAILED,
					 .reason = SL_REASON_SUPERSEDED,
					 .phase = SL_PHASE_SHARE,
					 .why.attempt = {2}},
		      "attempt_failed", SL_INFO,
		      "round 3 attempt 1 ended in SHARE: ana (2) started attempt 2");
	expect_record((struct sl_report){.kind = SL_REPORT_FAILED,
					 .reason = SL_REASON_INITIAL,
					 .phase = SL_PHASE_AGREE},
		      "attempt_failed", SL_INFO,
		      "round 3 attempt 1 ended in AGREE: the learners begin with different models, or one "
		      "has changed a tensor beyond its first range: the first round averages whole models");
	expect_record(
		(struct sl_report){.kind = SL_REPORT_FAILED,
				   .reason = SL_REASON_RESULT,
				   .phase = SL_PHASE_RECOVER,
				   .why.result = {3}},
		"attempt_failed", SL_WARN,
		"round 3 attempt 1 ended in RECOVER: the data of a participant make the sum implausible: it "
		"is not one of 3 models within clipping_range; which participant cannot be told; the sum is "
		"discarded; if every attempt ends so, take tolerance + 2 learners at a time out of the "
		"roster, until one does not");
	expect_record((struct sl_report){.kind = SL_REPORT_FAILED,
					 .reason = SL_REASON_WEIGHT,
					 .phase = SL_PHASE_SHARE,
					 .why.weight = {9, 4}},
		      "fatal", SL_ERROR,
		      "round 3 attempt 1 ended in SHARE: weight 9 is above max_weight, 4; raise max_weight "
		      "at every "
		      "learner");
	expect_record((struct sl_report){.kind = SL_REPORT_OVER, .peer = 2}, "attempt_over", SL_WARN,
		      "round 3 attempt 1 is over: cy (9) and enough others have signed that they never "
		      "complete it");
	expect_record((struct sl_report){.kind = SL_REPORT_OVER, .peer = SL_NOBODY}, "attempt_over", SL_WARN,
		      "round 3 attempt 1 is over: the operator has aborted it");
	expect_record((struct sl_report){.kind = SL_REPORT_RESUMED, .resumed = {true}}, "attempt_resumed",
		      SL_INFO,
		      "round 3 attempt 1 goes on after a restart: this learner had released its deposit key");
	expect_record((struct sl_report){.kind = SL_REPORT_PRIVACY, .privacy = {2, 1, 1, 1}}, "privacy",
		      SL_WARN,
		      "round 3: this sum and those since round 2 together tell sums over fewer than 3 "
		      "learners, the smallest over 1: 1 outside the roster");
	expect_record((struct sl_report){.kind = SL_REPORT_PRIVACY, .set = &two, .privacy = {2, 1, 1, 1}},
		      "privacy", SL_WARN,
		      "round 3: this sum and those since round 2 together tell sums over fewer than 3 "
		      "learners, the smallest over 1: bo (5), cy (9), and 1 outside the roster");
	expect_record(
		(struct sl_report){.kind = SL_REPORT_CAUGHT_UP, .peer = 1, .caught_up = {6, 3, 2, {0xab}}},
		"caught_up", SL_INFO,
		"caught up with round 6 from bo (5): 3 learners, model ab0000000000, signed by 2");
}

/* The reason of a record about a peer is its sentence without the name. */
TEST(test_reason_of_a_peer)
{
	struct sl_record read;
	struct sl_report report = {
		.kind = SL_REPORT_ABSTAINS, .t = 3, .a = 1, .peer = 1, .abstains = {4, "a Ready"}};
	json_t *object = written(&report, &read);
	assert_string_equal(sentence, "bo (5): it shows a Ready of round 4 that this learner has signed and "
				      "that is not on its disk: this learner takes no part until round 4 is "
				      "committed, and catches up then; if its disk was not set back, another "
				      "process has its key: stop that one");
	assert_string_equal(read.reason, sentence + strlen("bo (5): "));
	assert_int_equal(read.peer, 5);
	json_decref(object);
}

/* A field of another type, or a negative number, is as good as none. */
TEST(test_strange_fields)
{
	struct sl_record read;
	json_t *object = json_pack("{s:i, s:s, s:i, s:s, s:n, s:i}", "round", -1, "attempt", "2", "reason", 3,
				   "mse", "x", "margin", "costs", 7);
	assert_false(sl_record_read(&read, object));
	assert_true(read.kind == SL_RECORD_COUNT && read.round == 0 && read.attempt == 0 &&
		    read.reason == NULL);
	assert_true(!read.has[SL_FIELD_round] && !read.has[SL_FIELD_mse] && read.has[SL_FIELD_margin] &&
		    isnan(read.margin));
	json_decref(object);
	assert_false(sl_record_read(&read, NULL));
}

/* Texts from outside that are too long or not UTF-8 do not cost the record. */
TEST(test_strange_texts)
{
	struct sl_record record;
	char text[64], longer[4096];
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	sl_record_init(&record, SL_RECORD_FATAL);
	record.reason = longer;
	json_decref(sl_record_write(&record, &roster, text, sizeof text));
	assert_int_equal(strlen(text), sizeof text - 1);
	assert_int_equal(strlen(sl_record_words(&record, "%s", longer)), SL_RECORD_WORDS_BYTES - 1);
	assert_string_equal(sl_record_words(&record, "%s", longer), "");
	record.reason = "\xff";
	json_t *object = sl_record_write(&record, &roster, text, sizeof text);
	assert_string_equal(json_string_value(json_object_get(object, "reason")), "(not UTF-8)");
	json_decref(object);
}
