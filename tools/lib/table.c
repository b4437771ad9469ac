#include "tools/lib/table.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"

size_t sl_table_width(const struct sl_column *columns, size_t count, uint32_t kept)
{
	size_t width = 0;
	for (size_t i = 0; i < count; i++)
		width += kept >> i & 1 ? columns[i].width : 0;
	return width;
}

/* The kept column that goes next; `count` if all that are left stay. */
static size_t least_important(const struct sl_column *columns, size_t count, uint32_t kept)
{
	size_t found = count;
	for (size_t i = 0; i < count; i++)
		if ((kept >> i & 1) && columns[i].drop > 0 &&
		    (found == count || columns[i].drop > columns[found].drop))
			found = i;
	return found;
}

uint32_t sl_table_kept(const struct sl_column *columns, size_t count, size_t width)
{
	assert(count <= SL_COLUMNS_MOST);
	uint32_t kept = (UINT32_C(1) << count) - 1;
	while (width > 0 && sl_table_width(columns, count, kept) > width) {
		size_t goes = least_important(columns, count, kept);
		if (goes == count)
			break;
		kept &= ~(UINT32_C(1) << goes);
	}
	return kept;
}

static size_t put_cell(const struct sl_column *column, bool last, const char *cell, char *out, size_t size)
{
	int width = (int)column->width;
	int n = !column->left ? snprintf(out, size, "%*s", width, cell)
			      : snprintf(out, size, "  %-*s", last ? 0 : width - 2, cell);
	return (size_t)n < size ? (size_t)n : size - 1;
}

void sl_table_line(const struct sl_column *columns, size_t count, uint32_t kept,
		   const char cells[][SL_CELL_BYTES], char line[static SL_TABLE_LINE_BYTES])
{
	size_t used = 0;
	line[0] = '\0';
	for (size_t i = 0; i < count; i++)
		if (kept >> i & 1)
			used += put_cell(&columns[i], kept >> i == 1, cells[i], line + used,
					 SL_TABLE_LINE_BYTES - used);
}

void sl_table_header(const struct sl_column *columns, size_t count, uint32_t kept,
		     char line[static SL_TABLE_LINE_BYTES])
{
	char names[SL_COLUMNS_MOST][SL_CELL_BYTES];
	for (size_t i = 0; i < count; i++)
		snprintf(names[i], sizeof names[i], "%s", columns[i].name);
	sl_table_line(columns, count, kept, names, line);
}
