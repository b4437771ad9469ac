/* starling-control(7) describes the status as the table of its fields does. */
#include <stdio.h>
#include <string.h>

#include "common/report/status_table.h"
#include "test/lib/test.h"

static char page[65536];

/* Write `field` as scdoc wants it, with "\_" for "_". */
static const char *escaped(const char *field)
{
	static char text[64];
	size_t used = 0;
	for (; *field != '\0'; field++) {
		if (*field == '_')
			text[used++] = '\\';
		text[used++] = *field;
	}
	text[used] = '\0';
	return text;
}

/* Expect a row of the page after `from`; return its end. */
static const char *expect_row(const char *from, const char *field, const char *meaning)
{
	char row[256];
	snprintf(row, sizeof row, "|  *%s*\n:  %s\n", escaped(field), meaning);
	const char *at = strstr(from, row);
	if (at == NULL)
		fail_msg("starling-control.7.scd lacks, or has elsewhere:\n%s", row);
	return at + strlen(row);
}

TEST(man_page)
{
	FILE *in = fopen(SL_SOURCE_ROOT "/deploy/man/starling-control.7.scd", "re");
	const char *at = page, *row;
	assert_non_null(in);
	page[fread(page, 1, sizeof page - 1, in)] = '\0';
	fclose(in);
#define X(field, meaning) at = expect_row(at, #field, meaning);
	SL_STATUS_FIELDS(X)
	SL_STATUS_COMMIT_FIELDS(X)
	SL_STATUS_DP_FIELDS(X)
	SL_STATUS_PROBLEM_FIELDS(X)
	SL_STATUS_PEER_FIELDS(X)
#undef X
	row = strstr(at, "\n|  *");
	assert_null(row); /* no row more */
}
