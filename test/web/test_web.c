/* The logs of a folder, the figures of a round, and the report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/lib/test.h"
#include "tools/web/page.h"
#include "tools/web/report.h"
#include "tools/web/rows.h"
#include "tools/web/tail.h"

static char *new_folder(void)
{
	char *folder = strdup("/tmp/starling-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	return folder;
}

static void remove_folder(char *folder)
{
	static const char *const files[] = {"log.jsonl", "report.html", "rounds.csv", "learners.csv"};
	char path[80];
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, files[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(folder), 0);
	free(folder);
}

static void append(const char *folder, const char *text)
{
	char path[512];
	snprintf(path, sizeof path, "%s/log.jsonl", folder);
	FILE *out = fopen(path, "a");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static void count(void *context, const json_t *record)
{
	(*(size_t *)context) += json_is_string(json_object_get(record, "event"));
}

#define RECORD(time, event, rest)                                                                            \
	"{\"v\":1,\"time\":\"2026-11-23T01:00:0" time                                                        \
	"Z\",\"mono_ms\":1,\"level\":\"info\",\"learner\":1,\"name\":\"a\",\"event\":\"" event               \
	"\",\"text\":\"t</script>\"" rest "}\n"

/* A line is handed over once, when it is whole; a log that was replaced is read anew. */
TEST(tail_follows)
{
	char *folder = new_folder(), path[80];
	struct sl_error error = {0};
	struct sl_web_tail *tail;
	size_t events = 0;
	assert_int_equal(sl_web_tail_open(&tail, folder, false, &error), SL_ERR_NOTFOUND);
	append(folder, RECORD("1", "phase", "") "not JSON\n{\"v\":1,\"event\":");
	assert_int_equal(sl_web_tail_open(&tail, folder, false, &error), SL_OK);
	assert_int_equal(sl_web_tail_read(tail, count, &events), 1);
	assert_int_equal(sl_web_tail_read(tail, count, &events), 0);
	append(folder, "\"view\"}\n");
	assert_int_equal(sl_web_tail_read(tail, count, &events), 1);
	snprintf(path, sizeof path, "%s/log.jsonl", folder);
	assert_int_equal(unlink(path), 0);
	append(folder, RECORD("2", "phase", ""));
	assert_int_equal(sl_web_tail_read(tail, count, &events), 1);
	assert_int_equal(events, 3);
	assert_false(sl_web_tail_running(tail));
	sl_web_tail_close(tail);
	remove_folder(folder);
}

/* The log of a learner has the records of the round, and those between them without one. */
TEST(tail_log)
{
	char *folder = new_folder();
	struct sl_error error = {0};
	struct sl_web_tail *tail;
	size_t events = 0;
	append(folder, RECORD("1", "phase", ",\"round\":1") RECORD("2", "phase", ",\"round\":2")
			       RECORD("3", "listening", "") RECORD("4", "phase", ",\"round\":3"));
	assert_int_equal(sl_web_tail_open(&tail, folder, false, &error), SL_OK);
	sl_web_tail_read(tail, count, &events);
	const struct {
		uint64_t learner, round;
		size_t most, found;
	} cases[] = {{1, 2, 9, 2}, {1, 1, 9, 1}, {1, 0, 9, 4}, {1, 0, 3, 3}, {2, 2, 9, 0}, {1, 4, 9, 0}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		json_t *log = sl_web_tail_log(tail, cases[i].learner, cases[i].round, 0, cases[i].most);
		assert_int_equal(json_array_size(log), cases[i].found);
		json_decref(log);
	}
	sl_web_tail_close(tail);
	remove_folder(folder);
}

static const char document[] =
	"{\"v\":1,\"round\":7,\"start\":\"2026-11-23T01:00:00Z\",\"start_s\":10.0,\"end_s\":12.5,"
	"\"learners\":[{\"id\":1,\"name\":\"=cmd\"},{\"id\":2,\"name\":\"b\\\"o\"}],"
	"\"attempts\":[{\"attempt\":1,\"ended\":\"failed\"},{\"attempt\":2,\"participants\":[1,2],\"edges\":["
	"[1,2]],"
	"\"mixing\":\"forest\",\"steps\":2,\"tolerance\":0,\"cut_vertices\":[1]}],"
	"\"learners_of_round\":[{\"learner\":1,\"spans\":[{\"phase\":\"train\",\"from_s\":10,\"to_s\":11}],"
	"\"waits\":[{\"from_s\":11,\"to_s\":11.5,\"awaited\":[2]}],\"committed_s\":12,\"bytes_sent\":5},"
	"{\"learner\":2,\"bytes_sent\":7,\"loss\":0.5}],"
	"\"loss\":0.5,\"same\":true,\"slowest\":{\"learner\":2,\"phase\":\"mix\",\"s\":1.5}}";

static void expect_printed(void (*print)(FILE *, const json_t *), const json_t *value, const char *expected)
{
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof text, "w");
	print(out, value);
	fclose(out);
	assert_memory_equal(text, expected, strlen(expected));
}

TEST(rows)
{
	json_t *doc = json_loads(document, 0, NULL), *row = sl_web_rows_round(doc);
	expect_printed(sl_web_rows_csv_round, row,
		       "7,\"2026-11-23T01:00:00Z\",2.5,2,2,1,\"forest\",2,0,1,12,0.5,,true,\"b\"\"o\","
		       "\"mix\",1.5\n");
	expect_printed(sl_web_rows_csv_learners, doc, "7,1,\"'=cmd\",2.000000,0.500000,,5,,,,,1.000000,");
	json_decref(row);
	json_decref(doc);
}

static void take(void *context, const json_t *record)
{
	sl_timeline_take(context, record);
}

/* Text of a peer cannot end the element that the data stand in; the data are what was given. A round number
 * that is nonsense ends no report. */
TEST(report)
{
	char *folder = new_folder(), path[80];
	struct sl_error error = {0};
	struct sl_web_tail *tail;
	struct sl_timeline *timeline = sl_timeline_new();
	append(folder, RECORD("1", "phase", ",\"round\":1,\"attempt\":1,\"phase\":\"TRAIN\"")
			       RECORD("2", "phase", ",\"round\":9223372036854775807"));
	assert_int_equal(sl_web_tail_open(&tail, folder, false, &error), SL_OK);
	assert_int_equal(sl_web_report_write(timeline, tail, folder, &error), SL_ERR_NOTFOUND);
	sl_web_tail_read(tail, take, timeline);
	assert_int_equal(sl_web_report_write(timeline, tail, folder, &error), SL_OK);
	snprintf(path, sizeof path, "%s/report.html", folder);
	FILE *in = fopen(path, "r");
	char *page = calloc(1, 4u << 20);
	assert_true(fread(page, 1, 4u << 20, in) > sl_web_page.before.size);
	fclose(in);
	const char *data = page + sl_web_page.before.size, *end = strstr(data, "</script>");
	json_t *embedded = json_loadb(data, (size_t)(end - data), 0, NULL);
	const json_t *log = json_object_get(json_object_get(embedded, "log"), "1");
	assert_string_equal(json_string_value(json_object_get(json_array_get(log, 0), "text")), "t</script>");
	assert_non_null(strstr(page, "default-src 'none'"));
	assert_null(strstr(page, "unsafe-inline"));
	json_decref(embedded);
	free(page);
	sl_web_tail_close(tail);
	sl_timeline_free(timeline);
	remove_folder(folder);
}
