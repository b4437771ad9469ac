/* Records as entries of the journal: the fields that systemd's library is given. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "daemon/runtime/log.h"
#include "daemon/runtime/log_journal.h"
#include "test/lib/test.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

static char seen[4096]; /* the fields of the last entry, a line each */

int __wrap_sd_journal_sendv(const struct iovec *fields, int count);
int __wrap_sd_journal_sendv(const struct iovec *fields, int count)
{
	seen[0] = '\0';
	for (int i = 0; i < count; i++) {
		strncat(seen, fields[i].iov_base, fields[i].iov_len);
		strcat(seen, "\n");
	}
	return 0;
}

static int journal; /* 0: it runs */

int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
	(void)path;
	(void)mode;
	return journal;
}

/* Without a journal, systemd's library drops entries in silence. */
TEST(test_without_a_journal)
{
	struct sl_settings settings = {.log = "-", .log_format = SL_LOG_JOURNAL};
	struct sl_log *log;
	struct sl_error error;
	journal = -1;
	assert_int_equal(sl_log_open(&log, &settings, &error), SL_ERR_IO);
	assert_string_equal(error.text, "log_format: journal: no journal runs here; use json, text or auto");
	journal = 0;
}

TEST(test_fields)
{
	struct sl_settings settings = {
		.id = 3, .log = "-", .log_format = SL_LOG_JOURNAL, .log_level = SL_INFO};
	struct sl_log *log;
	struct sl_error error;
	assert_int_equal(sl_log_open(&log, &settings, &error), SL_OK);
	sl_log_name(log, "ana");
	sl_log(log, SL_WARN, "penalty", "round 3: x",
	       json_pack("{s:i, s:f, s:b, s:[i], s:n, s:s}", "round", 3, "waited_s", 1.25, "overdue", 1,
			 "learners", 2, "mu", "reason", "a\nb"));
	sl_log_close(log);
	static const char *const expected[] = {"PRIORITY=4\n",
					       "SYSLOG_IDENTIFIER=starlingd\n",
					       "\nMESSAGE=round 3: x\n",
					       "\nSTARLING_EVENT=penalty\n",
					       "\nSTARLING_LEARNER=3\n",
					       "\nSTARLING_NAME=ana\n",
					       "\nSTARLING_ROUND=3\n",
					       "\nSTARLING_WAITED_S=1.25\n",
					       "\nSTARLING_OVERDUE=true\n",
					       "\nSTARLING_REASON=a\nb\n",
					       "\nSTARLING_JSON={\"v\":1,"};
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
		if (strstr(seen, expected[i]) == NULL)
			fail_msg("no %s in:\n%s", expected[i], seen);
	assert_null(strstr(seen, "STARLING_TEXT")); /* that is the message */
}

/* Only the stream that systemd names is the journal: standard error may be redirected. */
TEST(test_stream)
{
	struct stat s;
	char stream[64];
	unsetenv("JOURNAL_STREAM");
	assert_false(sl_log_journal_found());
	assert_int_equal(fstat(STDERR_FILENO, &s), 0);
	snprintf(stream, sizeof stream, "%llu:%llu", (unsigned long long)s.st_dev,
		 (unsigned long long)s.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	assert_true(sl_log_journal_found());
	snprintf(stream, sizeof stream, "%llu:%llu", (unsigned long long)s.st_dev,
		 (unsigned long long)s.st_ino + 1);
	setenv("JOURNAL_STREAM", stream, 1);
	assert_false(sl_log_journal_found());
	unsetenv("JOURNAL_STREAM");
}
