/* Logs as they are read: lines once they are whole, of any length, also of files that are replaced. */
#include "test/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/lib/log_files.h"

#define RECORD(time, event)                                                                                  \
	"{\"v\":1,\"time\":\"2026-11-23T01:00:0" time                                                        \
	"Z\",\"mono_ms\":1,\"level\":\"info\",\"learner\":1,\"event\":\"" event "\"}\n"

static char *new_folder(void)
{
	char *folder = strdup("/tmp/starling-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	return folder;
}

static const char *log_of(const char *folder)
{
	static char path[80];
	snprintf(path, sizeof path, "%s/log.jsonl", folder);
	return path;
}

static void remove_folder(char *folder)
{
	unlink(log_of(folder));
	assert_int_equal(rmdir(folder), 0);
	free(folder);
}

static void append(const char *folder, const char *text)
{
	FILE *out = fopen(log_of(folder), "a");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static void count(void *context, const struct sl_record *record)
{
	(*(size_t *)context) += record->event != NULL;
}

/* Return the number of new records. */
static size_t read_new(struct sl_log_files *files)
{
	struct sl_error error = {0};
	size_t events = 0;
	assert_int_equal(sl_log_files_refresh(files, &error), SL_OK);
	size_t read = sl_log_files_read(files, count, &events);
	assert_int_equal(read, events);
	return read;
}

/* A line is handed over once, when it is whole; a log that was replaced or cut is read anew. */
TEST(logs_are_followed)
{
	char *folder = new_folder();
	const char *const paths[] = {folder};
	struct sl_error error = {0};
	struct sl_log_files files;
	assert_int_equal(sl_log_files_open(&files, paths, 1, true, &error), SL_ERR_NOTFOUND);
	append(folder, RECORD("1", "phase") "not JSON\n{\"v\":1,\"time\":\"2026-11-23T01:");
	assert_int_equal(sl_log_files_open(&files, paths, 1, true, &error), SL_OK);
	assert_int_equal(read_new(&files), 1);
	assert_int_equal(read_new(&files), 0);
	append(folder, "00:02Z\",\"event\":\"view\"}\n");
	assert_int_equal(read_new(&files), 1);
	assert_int_equal(truncate(log_of(folder), 0), 0);
	append(folder, RECORD("3", "phase"));
	assert_int_equal(read_new(&files), 1);
	assert_int_equal(unlink(log_of(folder)), 0);
	append(folder, RECORD("2", "phase"));
	assert_int_equal(read_new(&files), 1);
	assert_int_equal(files.malformed.count, 1);
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
	append(folder, RECORD("1", "first") RECORD("4", "last"));
	assert_int_equal(sl_log_files_open(&files, paths, 1, true, &error), SL_OK);
	item = next(&files);
	append(folder, RECORD("2", "later"));
	assert_string_equal(item.record->event, "first");
	assert_int_equal(sl_log_files_refresh(&files, &error), SL_OK);
	assert_string_equal(next(&files).record->event, "last");
	assert_string_equal(next(&files).record->event, "later");
	assert_false(sl_log_files_next(&files, &item));
	assert_false(sl_log_files_next(&files, &item));
	sl_log_files_close(&files);
	remove_folder(folder);
}

/* A line of any length costs a bounded buffer, and only itself; so does a time that is none. */
TEST(a_line_without_end)
{
	char *folder = new_folder(), *text = malloc(3u << 20);
	const char *const paths[] = {folder};
	struct sl_error error = {0};
	struct sl_log_files files;
	memset(text, 'x', 3u << 20);
	text[(3u << 20) - 1] = '\0';
	append(folder, RECORD("1", "phase") "{\"v\":1,\"time\":\"2026-11-23T01:00:01Z\",\"event\":\"");
	append(folder, text);
	append(folder, "\"}\n" RECORD("2", "phase") RECORD("2.9e300", "phase"));
	assert_int_equal(sl_log_files_open(&files, paths, 1, false, &error), SL_OK);
	assert_int_equal(read_new(&files), 2);
	assert_int_equal(files.malformed.count, 2);
	sl_log_files_close(&files);
	free(text);
	remove_folder(folder);
}
