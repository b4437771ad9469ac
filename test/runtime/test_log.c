/* Records are one JSON line each, in a fixed order of keys; the text form is made from them. */
#include "test/config/settings_folder.h"
#include "test/lib/test.h"

#include <jansson.h>
#include <signal.h>
#include <sys/resource.h>

#include "daemon/runtime/log.h"

static struct sl_log *open_log(const char *path, enum sl_log_format format, int level)
{
	struct sl_settings s = {.id = 3, .log_format = format, .log_level = level};
	struct sl_log *log = NULL;
	struct sl_error error = {0};
	snprintf(s.log, sizeof s.log, "%s", path);
	assert_ok(sl_log_open(&log, &s, &error), error);
	sl_log_name(log, "learner-03");
	return log;
}

static void expect_keys(const char *line, const char *const *keys, size_t count)
{
	json_t *record = json_loads(line, 0, NULL);
	size_t i = 0;
	const char *key;
	json_t *value;
	assert_non_null(record);
	json_object_foreach(record, key, value)
	{
		assert_true(i < count);
		assert_string_equal(key, keys[i++]);
	}
	assert_int_equal(i, count);
	json_decref(record);
}

TEST_WITH(keys_keep_their_order, folder_enter, folder_leave)
{
	static const char *const keys[] = {"v",	   "time",  "mono_ms", "level", "learner",
					   "name", "event", "text",    "round", "mse"};
	struct sl_log *log = open_log("log", SL_LOG_AUTO, SL_INFO);
	char text[1024];
	sl_log(log, SL_INFO, "committed", "round 3 committed",
	       json_pack("{s:i, s:f}", "round", 3, "mse", 0.021));
	sl_log_close(log);
	folder_get("log", text, sizeof text);
	expect_keys(text, keys, sizeof keys / sizeof keys[0]);
	assert_non_null(strstr(
		text, "\"level\":\"info\",\"learner\":3,\"name\":\"learner-03\",\"event\":\"committed\","
		      "\"text\":\"round 3 committed\",\"round\":3,\"mse\":0.021}\n"));
}

TEST_WITH(time_has_milliseconds, folder_enter, folder_leave)
{
	struct sl_log *log = open_log("log", SL_LOG_JSON, SL_INFO);
	char text[1024];
	int y, m, d, h, min, s, ms, used = 0;
	sl_log(log, SL_INFO, "e", "t", NULL);
	sl_log_close(log);
	folder_get("log", text, sizeof text);
	assert_int_equal(sscanf(text, "{\"v\":1,\"time\":\"%4d-%2d-%2dT%2d:%2d:%2d.%3dZ\",%n", &y, &m, &d, &h,
				&min, &s, &ms, &used),
			 7);
	assert_true(used > 0);
}

TEST_WITH(level_filters, folder_enter, folder_leave)
{
	struct sl_log *log = open_log("log", SL_LOG_JSON, SL_WARN);
	char text[1024];
	assert_false(sl_log_takes(log, SL_INFO));
	sl_log(log, SL_INFO, "quiet", "no", NULL);
	sl_log(log, SL_DEBUG, "quiet", "no", json_pack("{s:i}", "a", 1));
	sl_log(log, SL_ERROR, "loud", "yes", NULL);
	sl_log_close(log);
	folder_get("log", text, sizeof text);
	assert_null(strstr(text, "quiet"));
	assert_non_null(strstr(text, "\"event\":\"loud\""));
}

TEST_WITH(hostile_text_is_one_line, folder_enter, folder_leave)
{
	struct sl_log *log = open_log("log", SL_LOG_JSON, SL_INFO);
	char text[1024];
	sl_log(log, SL_WARN, "refused", "a\nb\033[2J", json_pack("{s:s}", "text", "hides"));
	sl_log(log, SL_WARN, "refused", "\xff", NULL);
	sl_log_close(log);
	folder_get("log", text, sizeof text);
	assert_non_null(strstr(text, "\"text\":\"a\\nb\\u001B[2J\"}\n"));
	assert_non_null(strstr(text, "\"text\":\"(not UTF-8)\"}\n"));
	assert_null(strstr(text, "hides"));
}

TEST_WITH(renders_text, folder_enter, folder_leave)
{
	char line[SL_LOG_LINE_BYTES];
	json_t *r = json_pack("{s:s, s:s, s:s, s:s, s:s}", "time", "2026-11-21T12:03:04.123Z", "level",
			      "info", "name", "learner-03", "event", "committed", "text",
			      "round 3\n\xc2\x9b"
			      "2J");
	sl_log_render(r, false, line, sizeof line);
	assert_string_equal(line, "12:03:04.123 learner-03 info  committed  round 3??2J\n");
	sl_log_render(r, true, line, sizeof line);
	assert_string_equal(line, "12:03:04.123 learner-03 \033[32minfo \033[0m committed  round 3??2J\n");
	json_decref(r);
	r = json_object();
	assert_true(sl_log_render(r, false, line, sizeof line) > 0);
	json_decref(r);
}

TEST_WITH(text_files_hold_text, folder_enter, folder_leave)
{
	struct sl_log *log = open_log("log", SL_LOG_TEXT, SL_INFO);
	char text[8192], *long_text = malloc(6000);
	assert_non_null(long_text);
	memset(long_text, 'x', 5999);
	long_text[5999] = '\0';
	sl_log(log, SL_INFO, "e", long_text, NULL);
	sl_log_close(log);
	free(long_text);
	folder_get("log", text, sizeof text);
	assert_non_null(strstr(text, " learner-03 info  e          xxx"));
	assert_int_equal(text[strlen(text) - 1], '\n');
}

static void count_line(void *context, const char *line, size_t bytes)
{
	size_t *count = context;
	assert_int_equal(strlen(line), bytes);
	assert_int_equal(line[bytes - 1], '}');
	++*count;
}

TEST_WITH(watchers_see_json, folder_enter, folder_leave)
{
	size_t count = 0;
	struct sl_log *json = open_log("a", SL_LOG_JSON, SL_INFO),
		      *text = open_log("b", SL_LOG_TEXT, SL_INFO);
	sl_log_watch_add(json, count_line, &count);
	sl_log_watch_add(text, count_line, &count);
	sl_log(json, SL_INFO, "e", "t", NULL);
	sl_log(text, SL_INFO, "e", "t", NULL);
	sl_log(text, SL_DEBUG, "e", "t", NULL);
	assert_int_equal(count, 2);
	sl_log_close(json);
	sl_log_close(text);
}

/* Standard error goes to a file for the time of two failing records. */
TEST_WITH(full_disk_is_told_once, folder_enter, folder_leave)
{
	char text[1024];
	int kept = dup(STDERR_FILENO), told = open("told", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct sl_log *log = open_log("/dev/full", SL_LOG_JSON, SL_INFO);
	dup2(told, STDERR_FILENO);
	sl_log(log, SL_INFO, "e", "t", NULL);
	sl_log(log, SL_INFO, "e", "t", NULL);
	dup2(kept, STDERR_FILENO);
	close(kept);
	close(told);
	sl_log_close(log);
	assert_string_equal(
		folder_get("told", text, sizeof text),
		"starlingd: cannot write the log (/dev/full): No space left on device; records are lost\n");
}

/* Let files grow to `bytes` at most; RLIM_INFINITY: as before. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST_WITH(a_line_that_is_cut_costs_no_other, folder_enter, folder_leave)
{
	struct sl_log *log = open_log("log", SL_LOG_JSON, SL_INFO);
	char text[1024];
	signal(SIGXFSZ, SIG_IGN);
	limit_files(40);
	sl_log(log, SL_INFO, "cut", "no room for this", NULL);
	sl_log(log, SL_INFO, "lost", "nor for this", NULL);
	limit_files(RLIM_INFINITY);
	sl_log(log, SL_INFO, "e", "t", NULL);
	sl_log_close(log);
	folder_get("log", text, sizeof text);
	assert_true(text[40] == '\n');
	json_t *record = json_loads(text + 41, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(record, "event")), "e");
	json_decref(record);
}

/* After a rotation, and with another level. A file that cannot be opened leaves the log as it is. */
TEST_WITH(opens_anew, folder_enter, folder_leave)
{
	char text[1024];
	struct sl_settings s = {.log = "log", .log_format = SL_LOG_JSON, .log_level = SL_DEBUG};
	struct sl_error error;
	struct sl_log *log = open_log("log", SL_LOG_JSON, SL_INFO);
	sl_log(log, SL_INFO, "first", "t", NULL);
	assert_int_equal(rename("log", "old"), 0);
	assert_int_equal(sl_log_reopen(log, &s, &error), SL_OK);
	sl_log(log, SL_DEBUG, "second", "t", NULL);
	snprintf(s.log, sizeof s.log, "no/such/log");
	s.log_level = SL_ERROR;
	assert_int_equal(sl_log_reopen(log, &s, &error), SL_ERR_IO);
	sl_log(log, SL_DEBUG, "third", "t", NULL);
	sl_log_close(log);
	folder_get("old", text, sizeof text);
	assert_true(strstr(text, "first") != NULL && strstr(text, "second") == NULL);
	folder_get("log", text, sizeof text);
	assert_true(strstr(text, "second") != NULL && strstr(text, "third") != NULL);
}

/* Waiting for a reader would hold up the learner. */
TEST_WITH(a_pipe_without_a_reader_is_refused, folder_enter, folder_leave)
{
	struct sl_settings s = {.log = "pipe"};
	struct sl_log *log = NULL;
	struct sl_error error = {0};
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(sl_log_open(&log, &s, &error), SL_ERR_IO);
	assert_null(log);
}

TEST_WITH(refuses_a_missing_folder, folder_enter, folder_leave)
{
	struct sl_settings s = {.log = "no/such/log"};
	struct sl_log *log = NULL;
	struct sl_error error = {0};
	assert_int_equal(sl_log_open(&log, &s, &error), SL_ERR_IO);
	assert_string_equal(error.text, "log: no/such/log: No such file or directory");
	assert_null(log);
	sl_log_close(log);
}
