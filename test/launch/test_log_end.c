/* The last records of a log. */
#include "test/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/lib/log_end.h"

static void add(void *events, const struct sl_record *record)
{
	strcat(events, record->event != NULL ? record->event : "-");
	strcat(events, " ");
}

/* A line of which the beginning is left out is none, nor is one that is no record; the last may lack its
 * newline. */
TEST(the_last_records_of_a_log)
{
	static const char text[] = "{\"event\":\"first\"}\n{\"event\":\"second\"}\nno "
				   "JSON\n[]\n\n{\"v\":2,\"event\":\"third\"}\n"
				   "{\"event\":\"fourth\"}\n{\"event\":\"fi";
	static const struct {
		size_t from, bytes;
		const char *events;
	} cases[] = {{0, 4096, "first second third fourth "},
		     {0, sizeof text - 2, "second third fourth "},
		     {18, 4096, "second third fourth "},
		     {0, 32, "fourth "},
		     {sizeof text, 4096, ""},
		     {4096, 4096, ""}};
	char path[] = "/tmp/starling-test-XXXXXX", events[128];
	int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)(sizeof text - 1));
	close(fd);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		events[0] = '\0';
		sl_log_end_read(path, cases[i].from, cases[i].bytes, add, events);
		assert_string_equal(events, cases[i].events);
	}
	assert_int_equal(unlink(path), 0);
	events[0] = '\0';
	sl_log_end_read(path, 0, 4096, add, events);
	assert_string_equal(events, "");
}
