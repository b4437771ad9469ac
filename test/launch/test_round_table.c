/* Records into rows, and a bar that fits its terminal. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "test/lib/test.h"
#include "tools/lib/progress.h"
#include "tools/lib/round_table.h"
#include "tools/lib/terminal.h"

static json_t *commit(int round, double ms, double margin, const char *digest)
{
	return json_pack("{s:i, s:i, s:i, s:f, s:i, s:f, s:s, s:f, s:f, s:f, s:i}", "round", round,
			 "learners", 2, "edges", 1, "mu", 0.25, "steps", 7, "margin", margin, "digest",
			 digest, "mono_ms", ms, "train_s", 1.5, "aggregate_s", 9.0, "round_bytes_sent", 100);
}

/* The row of the record's round, and the record as it is read. */
static struct sl_round_row *row_of(struct sl_round_table *rounds, const json_t *object,
				   struct sl_record *record)
{
	sl_record_read(record, object);
	return sl_round_table_at(rounds, record->round);
}

static bool hear_commit(struct sl_round_table *rounds, uint32_t learner, json_t *record)
{
	struct sl_record read;
	struct sl_round_row *row = row_of(rounds, record, &read);
	assert_non_null(row);
	bool first = sl_round_table_committed(row, learner, &read);
	json_decref(record);
	return first;
}

static struct sl_round_row *hear_evaluated(struct sl_round_table *rounds, int round)
{
	json_t *record = json_pack("{s:i, s:f}", "round", round, "mse", 0.125);
	struct sl_record read;
	struct sl_round_row *row = row_of(rounds, record, &read);
	sl_round_table_evaluated(row, &read);
	json_decref(record);
	return row;
}

/* A second training of the round counts in place of the first; other metrics stay apart.
 */
TEST(test_metrics_of_applications_are_averaged)
{
	struct sl_round_table rounds;
	static const struct {
		const char *learner, *record;
	} trained[] = {
		{"a", "{\"metrics\": {\"loss\": 9, \"auc\": 1}}"},
		{"a", "{\"metrics\": {\"loss\": 2}}"},
		{"b", "{\"metrics\": {\"loss\": 4}}"},
		{"c", "{\"loss\": 7}"},
	};
	sl_round_table_init(&rounds, 3, 1);
	struct sl_round_row *row = sl_round_table_at(&rounds, 1);
	assert_true(isnan(sl_round_table_metric(row, "loss")));
	for (size_t i = 0; i < sizeof trained / sizeof *trained; i++) {
		json_t *record = json_loads(trained[i].record, 0, NULL);
		sl_round_table_metrics(row, trained[i].learner, record);
		json_decref(record);
	}
	assert_true(sl_round_table_metric(row, "loss") == 3);
	assert_true(isnan(sl_round_table_metric(row, "auc")));
	sl_round_table_close(&rounds);
}

TEST(test_a_round_is_put_together)
{
	struct sl_round_table rounds;
	sl_round_table_init(&rounds, 2, 3);
	struct sl_record read;
	json_t *trained = json_pack("{s:i, s:f, s:f}", "round", 1, "mono_ms", 1000.0, "train_s", 2.5);
	sl_round_table_trained(row_of(&rounds, trained, &read), &read);
	json_decref(trained);
	struct sl_round_row *row = hear_evaluated(&rounds, 1);
	assert_false(sl_round_table_complete(row));
	assert_true(hear_commit(&rounds, 1, commit(1, 1500, 0.01, "aa")));
	assert_false(hear_commit(&rounds, 1, commit(1, 1700, 0.01, "aa"))); /* said twice, counted once */
	assert_false(sl_round_table_complete(row));
	assert_false(hear_commit(&rounds, 0, commit(1, 1250, 0.02, "aa")));
	assert_true(sl_round_table_complete(row));
	assert_true(sl_round_table_agreed(row));
	assert_true(row->train_s == 2.5 && row->aggregate_s == 0.5 && row->mse == 0.125 &&
		    row->margin == 0.02);
	assert_int_equal(row->bytes, 200);
	assert_int_equal(row->steps, 7);
	sl_round_table_close(&rounds);
}

static json_t *commit_with_costs(double ms, const double parts[static SL_PARTS], int peak)
{
	json_t *record = commit(1, ms, 0.01, "aa");
	json_object_set_new(record, "costs", json_pack("{s:f, s:i}", "round_cpu_s", 0.5, "peak_bytes", peak));
	json_object_set_new(record, "phases",
			    json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "discover_s", 1.0, "share_s",
				      parts[SL_PART_SHARE], "ready_s", parts[SL_PART_READY] - 0.5,
				      "release_s", 0.5, "mix_s", parts[SL_PART_MIX], "confirm_s",
				      parts[SL_PART_CONFIRM], "commit_s", 0.0));
	return record;
}

/* A part ends when the last learner is through with it, and together they are the round's time. */
TEST(test_a_round_in_parts)
{
	static const double expected[SL_PARTS] = {1, 2, 3, 4, 0.5}, /* entered at 2, 4, 7, 11 s */
		first[SL_PARTS] = {0, 1.5, 3.5, 4, 0.5}, second[SL_PARTS] = {0, 2.5, 3, 3.75, 0.5};
	struct sl_round_table rounds;
	double seconds[SL_PARTS], sum = 0;
	sl_round_table_init(&rounds, 2, 1);
	json_t *trained = json_pack("{s:i, s:f}", "round", 1, "mono_ms", 1000.0);
	struct sl_record read;
	struct sl_round_row *row = row_of(&rounds, trained, &read);
	sl_round_table_trained(row, &read);
	json_decref(trained);
	hear_commit(&rounds, 1, commit_with_costs(11500, first, 7));
	assert_true(sl_round_table_parts(row, seconds));
	hear_commit(&rounds, 0, commit_with_costs(11250, second, 9));
	assert_true(sl_round_table_parts(row, seconds));
	for (int i = 0; i < SL_PARTS; i++) {
		assert_true(seconds[i] == expected[i]);
		sum += seconds[i];
	}
	assert_true(sum == row->aggregate_s);
	assert_true(row->cpu_s == 1.0);
	assert_int_equal(row->peak_bytes, 9);
	sl_round_table_close(&rounds);
}

/* A learner that recovered never mixed: its phases are not those of the others. */
TEST(test_parts_that_are_not_known)
{
	static const double parts[SL_PARTS] = {0, 1.5, 3.5, 4, 0.5};
	struct sl_round_table rounds;
	double seconds[SL_PARTS];
	sl_round_table_init(&rounds, 1, 1);
	json_t *record = commit_with_costs(11500, parts, 7);
	json_object_del(json_object_get(record, "phases"), "mix_s");
	hear_commit(&rounds, 0, record);
	struct sl_round_row *row = &rounds.rows[0];
	row->trained_ms = 1000;
	assert_false(sl_round_table_parts(row, seconds));
	for (int i = SL_PART_SHARE; i < SL_PARTS; i++)
		row->begun_ms[i] = 2000;
	assert_true(sl_round_table_parts(row, seconds));
	row->trained_ms = 0;
	assert_false(sl_round_table_parts(row, seconds));
	sl_round_table_close(&rounds);
}

/* A trainer that knows no error says so, and the round is complete. */
TEST(test_a_round_without_an_error)
{
	struct sl_round_table rounds;
	sl_round_table_init(&rounds, 1, 1);
	hear_commit(&rounds, 0, commit(1, 1, 0.01, "aa"));
	json_t *record = json_pack("{s:i, s:n}", "round", 1, "mse");
	struct sl_record read;
	struct sl_round_row *row = row_of(&rounds, record, &read);
	row->learners = 1;
	sl_round_table_evaluated(row, &read);
	json_decref(record);
	assert_true(sl_round_table_complete(row));
	assert_true(isnan(row->mse));
	sl_round_table_close(&rounds);
}

TEST(test_without_a_trained_record_the_learners_own_time_counts)
{
	struct sl_round_table rounds;
	sl_round_table_init(&rounds, 2, 3);
	hear_commit(&rounds, 0, commit(2, 1500, 0.01, "aa"));
	assert_true(rounds.rows[1].aggregate_s == 9.0);
	sl_round_table_close(&rounds);
}

/* Of a view of two in a roster of three, that committed in attempt 2. */
static struct sl_round_row *commit_of_two(struct sl_round_table *rounds)
{
	json_t *record = commit(1, 1, 0.01, "aa");
	json_object_set_new(record, "attempt", json_integer(2));
	assert_true(hear_commit(rounds, 0, record));
	return hear_evaluated(rounds, 1);
}

TEST(test_who_died_in_the_view_and_is_shown_the_round_counts)
{
	struct sl_round_table rounds;
	sl_round_table_init(&rounds, 3, 3);
	struct sl_round_row *row = commit_of_two(&rounds);
	sl_round_table_member(row, 0, 2);
	sl_round_table_member(row, 2, 2);
	sl_round_table_shown(row, 2, "aa");
	assert_true(sl_round_table_complete(row) && sl_round_table_agreed(row));
	assert_int_equal(row->who[0], 5);
	sl_round_table_close(&rounds);
}

TEST(test_who_of_the_view_is_absent)
{
	struct sl_round_table rounds;
	uint64_t set = 0;
	sl_round_table_init(&rounds, 3, 3);
	struct sl_round_row *row = commit_of_two(&rounds);
	assert_int_equal(sl_round_table_missing(row), 1);
	assert_false(sl_round_table_absent(row, &set)); /* it has not said so */
	sl_round_table_member(row, 2, 2);
	assert_true(sl_round_table_absent(row, &set));
	assert_int_equal(set, 4);
	sl_round_table_close(&rounds);
}

TEST(test_who_was_left_out_does_not_count)
{
	struct sl_round_table rounds;
	sl_round_table_init(&rounds, 3, 3);
	struct sl_round_row *row = commit_of_two(&rounds);
	sl_round_table_member(row, 2, 1); /* of an attempt that failed */
	sl_round_table_shown(row, 2, "aa");
	assert_false(sl_round_table_complete(row));
	sl_round_table_shown(row, 1, "ab"); /* it is compared all the same */
	assert_false(sl_round_table_agreed(row));
	assert_int_equal(row->who[0], 1);
	sl_round_table_close(&rounds);
}

TEST(test_who_has_a_later_round_counts_without_this_model)
{
	struct sl_round_table rounds;
	sl_round_table_init(&rounds, 3, 3);
	struct sl_round_row *row = commit_of_two(&rounds);
	sl_round_table_member(row, 2, 2);
	sl_round_table_passed(row, 2);
	sl_round_table_passed(row, 1); /* was not in it */
	assert_true(sl_round_table_complete(row) && sl_round_table_agreed(row));
	assert_int_equal(row->who[0], 5);
	assert_int_equal(row->passed[0], 6);
	sl_round_table_close(&rounds);
}

TEST(test_shown_before_the_commit_is_heard)
{
	struct sl_round_table rounds;
	sl_round_table_init(&rounds, 2, 3); /* all are in the view: no word of it is needed */
	sl_round_table_shown(sl_round_table_at(&rounds, 1), 1, "aa");
	assert_int_equal(rounds.rows[0].committed, 0);
	hear_commit(&rounds, 0, commit(1, 1, 0.01, "aa"));
	assert_int_equal(rounds.rows[0].committed, 2);
	assert_true(sl_round_table_agreed(&rounds.rows[0]));
	sl_round_table_close(&rounds);
}

TEST(test_disagreement)
{
	struct sl_round_table rounds;
	sl_round_table_init(&rounds, 2, 3);
	hear_commit(&rounds, 0, commit(1, 1, 0.01, "aa"));
	hear_commit(&rounds, 1, commit(1, 1, 0.01, "ab"));
	hear_commit(&rounds, 0, commit(2, 1, 0.01, "aa"));
	hear_commit(&rounds, 1, commit(2, 1, 0.375, "aa"));
	hear_commit(&rounds, 0, commit(3, 1, 0.01, ""));
	for (uint32_t i = 0; i < 3; i++)
		assert_false(sl_round_table_agreed(&rounds.rows[i]));
	sl_round_table_close(&rounds);
}

TEST(test_rounds_of_no_run)
{
	struct sl_round_table rounds;
	sl_round_table_init(&rounds, 2, 3);
	static const int wrong[] = {0, -1, 4};
	for (size_t i = 0; i < 3; i++) {
		json_t *record = json_pack("{s:i}", "round", wrong[i]);
		struct sl_record read;
		assert_null(row_of(&rounds, record, &read));
		json_decref(record);
	}
	sl_round_table_close(&rounds);
}

TEST(test_bar_fits)
{
	char text[512];
	struct sl_bar bar = {
		.round = 3, .rounds = 10, .phase = "DISCOVER", .part = 0.5, .note = "8 of 10 past it"};
	for (size_t width = 8; width < 200; width++) {
		sl_progress_bar_format(&bar, width, text, sizeof text);
		assert_true(strlen(text) - (strstr(text, "…") != NULL ? 2 : 0) < width);
	}
	assert_non_null(strstr(text, "[####################--------------------] 8 of 10"));
	bar.left_s = 200;
	sl_progress_bar_format(&bar, 100, text, sizeof text);
	assert_non_null(strstr(text, "] 8 of 10 past it, 3 min left"));
	sl_progress_bar_format(&bar, 40, text, sizeof text);
	assert_string_equal(text, "round 3 of 10  DISCOVER  50% 8 of 10…");
	sl_progress_bar_format(&bar, 8, text, sizeof text);
	assert_string_equal(text, "round…");
	bar.part = 7; /* nonsense in, a full bar out */
	sl_progress_bar_format(&bar, 100, text, sizeof text);
	assert_null(strchr(text, '-'));
}

TEST(test_time_left)
{
	struct sl_pace pace = {0};
	assert_true(sl_progress_left_s(&pace, 2, 10) == 0); /* the first call */
	pace.since_ns -= UINT64_C(4000000000);
	double left = sl_progress_left_s(&pace, 4, 10); /* two in 4 s: six in 12 */
	assert_true(left >= 12 && left < 300);
	assert_true(sl_progress_left_s(&pace, 10, 10) == 0);
}

TEST(thousands)
{
	char word[64];
	sl_terminal_thousands(47000, word);
	assert_string_equal(word, "47,000");
	sl_terminal_thousands(999, word);
	assert_string_equal(word, "999");
	sl_terminal_thousands(UINT64_MAX, word);
	assert_string_equal(word, "18,446,744,073,709,551,615");
}
