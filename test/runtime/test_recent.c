/* The last lines of a log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/runtime/recent.h"
#include "test/lib/test.h"

static const char *all(const struct sl_recent *recent)
{
	static char text[256];
	const char *line = NULL;
	size_t size, used = 0;
	text[0] = '\0';
	while ((line = sl_recent_next(recent, line, &size)) != NULL)
		used += (size_t)snprintf(text + used, sizeof text - used, "%.*s|", (int)size, line);
	return text;
}

/* At least 8 bytes stay, with the newlines; at most 16 are kept. */
TEST(the_last_lines_stay)
{
	struct sl_recent recent = {.least = 8};
	static const struct {
		const char *line, *kept;
	} cases[] = {{"12345678", ""}, /* with its newline too long */
		     {"a", "a|"},
		     {"", "a||"},
		     {"1234567", "a||1234567|"},
		     {"bcde", "a||1234567|bcde|"},
		     {"f", "bcde|f|"},
		     {"1234567", "bcde|f|1234567|"},
		     {"x", "1234567|x|"}};
	assert_string_equal(all(&recent), "");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sl_recent_add(&recent, cases[i].line, strlen(cases[i].line));
		assert_string_equal(all(&recent), cases[i].kept);
	}
	sl_recent_free(&recent);
	assert_string_equal(all(&recent), "");
}
