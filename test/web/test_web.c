/* The logs of a folder, the figures of a round, and the report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/lib/test.h"
#include "tools/web/page.h"
#include "tools/web/report.h"
#include "tools/web/rows.h"
#include "tools/web/source.h"

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

static void count(void *context, const struct sl_record *record)
{
	(*(size_t *)context) += record->event != NULL;
}

#define RECORD(time, event, rest)                                                                            \
	"{\"v\":1,\"time\":\"2026-11-23T01:00:0" time                                                        \
	"Z\",\"mono_ms\":1,\"level\":\"info\",\"learner\":1,\"name\":\"a\",\"event\":\"" event               \
	"\",\"text\":\"t</script>\"" rest "}\n"

/* A line is handed over once, when it is whole; a log that was replaced or cut is read anew. */
TEST(logs_are_followed)
{
	char *folder = new_folder(), path[80];
	const char *const paths[] = {folder};
	struct sl_error error = {0};
	struct sl_log_files files;
	size_t events = 0;
	assert_int_equal(sl_log_files_open(&files, paths, 1, true, false, &error), SL_ERR_NOTFOUND);
	append(folder, RECORD("1", "phase", "") "not JSON\n{\"v\":1,\"time\":\"2026-11-23T01:");
	assert_int_equal(sl_log_files_open(&files, paths, 1, true, false, &error), SL_OK);
	const struct sl_web_source source = sl_web_source_files(&files);
	assert_int_equal(source.read(&files, count, &events), 1);
	assert_int_equal(source.read(&files, count, &events), 0);
	append(folder, "00:02Z\",\"event\":\"view\"}\n");
	assert_int_equal(source.read(&files, count, &events), 1);
	snprintf(path, sizeof path, "%s/log.jsonl", folder);
	assert_int_equal(truncate(path, 0), 0);
	append(folder, RECORD("3", "phase", ""));
	assert_int_equal(source.read(&files, count, &events), 1);
	assert_int_equal(unlink(path), 0);
	append(folder, RECORD("2", "phase", ""));
	assert_int_equal(source.read(&files, count, &events), 1);
	assert_int_equal(events, 4);
	assert_int_equal(files.malformed.count, 1);
	assert_false(source.running(&files));
	sl_log_files_close(&files);
	remove_folder(folder);
}

static struct sl_log_item next(struct sl_log_files *files)
{
	struct sl_log_item item;
	assert_true(sl_log_files_next(files, &item));
	return item;
}

/* What is written while the caller has a record leaves that record as it is, and comes in its turn. */
TEST(a_log_grows_while_it_is_read)
{
	char *folder = new_folder();
	const char *const paths[] = {folder};
	struct sl_error error = {0};
	struct sl_log_files files;
	struct sl_log_item item;
	append(folder, RECORD("1", "first", "") RECORD("4", "last", ""));
	assert_int_equal(sl_log_files_open(&files, paths, 1, true, false, &error), SL_OK);
	item = next(&files);
	append(folder, RECORD("2", "later", ""));
	assert_string_equal(item.record->event, "first");
	assert_int_equal(sl_log_files_refresh(&files, &error), SL_OK);
	assert_string_equal(next(&files).record->event, "last");
	assert_string_equal(next(&files).record->event, "later");
	assert_false(sl_log_files_next(&files, &item));
	assert_false(sl_log_files_next(&files, &item));
	sl_log_files_close(&files);
	remove_folder(folder);
}

/* A line of any length costs a bounded buffer, and only itself. */
TEST(a_line_without_end)
{
	char *folder = new_folder(), *text = malloc(3u << 20);
	const char *const paths[] = {folder};
	struct sl_error error = {0};
	struct sl_log_files files;
	size_t events = 0;
	memset(text, 'x', 3u << 20);
	text[(3u << 20) - 1] = '\0';
	append(folder, RECORD("1", "phase", "") "{\"v\":1,\"time\":\"2026-11-23T01:00:01Z\",\"event\":\"");
	append(folder, text);
	append(folder, "\"}\n" RECORD("2", "phase", ""));
	assert_int_equal(sl_log_files_open(&files, paths, 1, false, false, &error), SL_OK);
	assert_int_equal(sl_log_files_read(&files, count, &events), 2);
	assert_int_equal(files.malformed.count, 1);
	sl_log_files_close(&files);
	free(text);
	remove_folder(folder);
}

/* The log of a learner has the records of the round, and those between them without one. */
TEST(log_of_a_learner)
{
	char *folder = new_folder();
	const char *const paths[] = {folder};
	struct sl_error error = {0};
	struct sl_log_files files;
	size_t events = 0;
	append(folder, RECORD("1", "phase", ",\"round\":1") RECORD("2", "phase", ",\"round\":2")
			       RECORD("3", "listening", "") RECORD("4", "phase", ",\"round\":3"));
	assert_int_equal(sl_log_files_open(&files, paths, 1, false, false, &error), SL_OK);
	const struct sl_web_source source = sl_web_source_files(&files);
	source.read(&files, count, &events);
	const struct {
		uint64_t learner, round;
		size_t most, found;
	} cases[] = {{1, 2, 9, 2}, {1, 1, 9, 1}, {1, 0, 9, 4}, {1, 0, 3, 3}, {2, 2, 9, 0}, {1, 4, 9, 0}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		json_t *log = sl_web_source_log(&source, cases[i].learner, cases[i].round, 0, cases[i].most);
		assert_int_equal(json_array_size(log), cases[i].found);
		json_decref(log);
	}
	sl_log_files_close(&files);
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

/* Text of a peer cannot end the element that the data stand in; the data are what was given. A round number
 * that is nonsense ends no report. */
TEST(report)
{
	char *folder = new_folder(), path[80];
	const char *const paths[] = {folder};
	struct sl_error error = {0};
	struct sl_log_files files;
	struct sl_timeline *timeline = sl_timeline_new();
	append(folder, RECORD("1", "phase", ",\"round\":1,\"attempt\":1,\"phase\":\"TRAIN\"")
			       RECORD("2", "phase", ",\"round\":9223372036854775807"));
	assert_int_equal(sl_log_files_open(&files, paths, 1, false, false, &error), SL_OK);
	const struct sl_web_source source = sl_web_source_files(&files);
	assert_int_equal(sl_web_report_write(timeline, &source, folder, &error), SL_ERR_NOTFOUND);
	source.read(&files, sl_timeline_take_each, timeline);
	assert_int_equal(sl_web_report_write(timeline, &source, folder, &error), SL_OK);
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
	sl_log_files_close(&files);
	sl_timeline_free(timeline);
	remove_folder(folder);
}
