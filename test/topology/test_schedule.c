/* The schedule's text form, its checks, and where one comes from. */
#include "test/lib/test.h"
#include "test/topology/schedules.h"

TEST(test_reads_and_writes)
{
	struct sl_schedule schedule =
		schedule_of("# a walk\n\nlearners 4 # so many\n step 3-1 2-1\t1-3\r\nstep\nstep 4-3\n");
	assert_int_equal(schedule.learners, 4);
	assert_int_equal(schedule.steps, 3);
	assert_int_equal(sl_schedule_count(&schedule, 0), 2); /* sorted, and 1-3 counts once */
	assert_int_equal(sl_schedule_edges(&schedule, 0)[1].b, 2);
	char *text = print_schedule(&schedule);
	assert_string_equal(text, "learners 4\nstep 1-2 1-3\nstep\nstep 3-4\n");
	free(text);
	sl_schedule_close(&schedule);
}

TEST(test_takes_a_byte_order_mark)
{
	struct sl_schedule schedule = schedule_of("\xef\xbb\xbflearners 4\nstep 1-2\n");
	assert_int_equal(schedule.learners, 4);
	sl_schedule_close(&schedule);
}

#define CUT "the file ends within this line: was it cut? if this is all, end the line with a newline"

TEST(test_names_file_and_line)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{"learners 3\nstep 1-4\n", "s.txt:2: edge 1-4: unknown learner 4 (learners are 1 to 3)"},
		{"learners 3\nstep 0-1\n", "s.txt:2: edge 0-1: unknown learner 0 (learners are 1 to 3)"},
		{"learners 3\n#\nstep 1-2 2-2\n", "s.txt:3: edge 2-2 is a loop"},
		{"learners 3\nstep 1-2-3\n", "s.txt:2: malformed edge \"1-2-3\", expected ID-ID, as in 3-7"},
		{"learners 3\nstep 1-\n", "s.txt:2: malformed edge \"1-\", expected ID-ID, as in 3-7"},
		{"learners 3\nstep -1\n", "s.txt:2: malformed edge \"-1\", expected ID-ID, as in 3-7"},
		{"learners 3\nstep 12345678901-1\n",
		 "s.txt:2: malformed edge \"12345678901-1\", expected ID-ID, as in 3-7"},
		{"learners 3\nstep 4294967297-1\n",
		 "s.txt:2: edge 4294967297-1: unknown learner 4294967297 (learners are 1 to 3)"},
		{"learners 3\nsteps 1-2\n", "s.txt:2: \"steps\" is neither \"learners\" nor \"step\""},
		{"step 1-2\n",
		 "s.txt:1: the first line must give the number of learners, as in \"learners 10\""},
		{"learners 3\nlearners 3\n", "s.txt:2: \"learners\" is given a second time"},
		{"learners\n", "s.txt:1: \"learners\" needs a number, as in \"learners 10\""},
		{"learners three\n", "s.txt:1: \"learners\" needs a number, as in \"learners 10\""},
		{"learners 3 4\n", "s.txt:1: unexpected \"4\" after \"learners 3\""},
		{"learners 1\n", "s.txt:1: 1 learners; must be 2 to 2000"},
		{"learners 2001\n", "s.txt:1: 2001 learners; must be 2 to 2000"},
		{"learners 3\n\n", "s.txt:2: the file has no step"},
		{"#\n", "s.txt:1: the file has no step"},
		{"", "s.txt:1: the file has no step"},
		{"learners 13\nstep 1-2 2-3\nstep 1-2 2-1", "s.txt:3: " CUT}, /* the last edge was 2-13 */
		{"learners 13\nst", "s.txt:2: " CUT},
		{"learners 13\nstep 1-2 2-", "s.txt:2: " CUT},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sl_schedule schedule;
		struct sl_error error = {0};
		assert_int_equal(parse_schedule(cases[i].text, &schedule, &error), SL_ERR_FORMAT);
		assert_string_equal(error.text, cases[i].error);
		assert_null(schedule.edges);
	}
}

TEST(test_missing_file)
{
	struct sl_schedule schedule;
	struct sl_error error = {0};
	assert_int_equal(sl_schedule_read("no/such/file", &schedule, &error), SL_ERR_IO);
	assert_string_equal(error.text, "no/such/file: No such file or directory");
}

/* ---- which steps can commit ---- */

static void note(void *context, uint32_t step, const struct sl_step_parts *parts)
{
	char *text = context;
	size_t used = strlen(text);
	snprintf(text + used, 64 - used, "%u:%u/%u ", step, parts->parts, parts->largest);
}

TEST(test_disconnected_steps_are_named)
{
	struct sl_schedule schedule = schedule_of("learners 4\nstep 1-2\nstep 1-2 2-3 3-4\nstep 1-2 3-4\n");
	struct sl_error error = {0};
	char noted[64] = "";
	assert_int_equal(sl_schedule_check(&schedule, 4, note, noted, &error), SL_OK);
	assert_string_equal(noted, "0:3/2 2:2/2 ");
	sl_schedule_close(&schedule);
}

TEST(test_no_step_can_commit)
{
	struct sl_schedule schedule = schedule_of("learners 5\nstep 1-2 2-3\nstep 4-5\n");
	struct sl_error error = {0};
	char noted[64] = "";
	assert_int_equal(sl_schedule_check(&schedule, 4, note, noted, &error), SL_ERR_INVALID);
	assert_string_equal(
		error.text,
		"no step can commit: at most 3 learners are connected in a step, and the quorum is 4");
	assert_string_equal(noted, "");
	assert_int_equal(sl_schedule_check(&schedule, 3, NULL, NULL, &error), SL_OK);
	sl_schedule_close(&schedule);
}

/* ---- families ---- */

TEST(test_every_family_survives_the_file)
{
	static const char *const names[] = {"complete",	     "ring",	  "line",	  "star",
					    "grid",	     "nearest:6", "neighbours:8", "regular:3",
					    "geometric:0.4", "regular",	  "neighbours:4"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct sl_schedule drawn = draw_schedule(names[i], 16, 3);
		char *text = print_schedule(&drawn);
		struct sl_schedule read = schedule_of(text);
		assert_int_equal(read.steps, 3);
		char *again = print_schedule(&read);
		assert_string_equal(text, again);
		free(text);
		free(again);
		sl_schedule_close(&drawn);
		sl_schedule_close(&read);
	}
}

TEST(test_steps_of_a_family)
{
	struct sl_schedule schedule = draw_schedule("ring", 5, 0);
	assert_int_equal(schedule.steps, 1);
	sl_schedule_close(&schedule);
	schedule = draw_schedule("regular:4", 10, 0);
	assert_int_equal(schedule.steps, SL_TOPOLOGY_STEPS);
	sl_schedule_close(&schedule);
}

TEST(test_neither_name_nor_file)
{
	const struct sl_topology_request request = {.text = "rings", .learners = 4};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	assert_int_equal(sl_topology_schedule(&request, &schedule, &error), SL_ERR_NOTFOUND);
	assert_non_null(strstr(error.text, "rings: neither a file nor a topology"));
}
