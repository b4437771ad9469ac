#include "tools/lib/table.h"

#include <stdio.h>

#include "common/base/err.h"

static size_t put_cell(const struct sl_column *column, bool last, const char *cell, char *out, size_t size)
{
	int width = (int)column->width;
	int n = !column->left ? snprintf(out, size, "%*s", width, cell)
			      : snprintf(out, size, "  %-*s", last ? 0 : width - 2, cell);
	return (size_t)n < size ? (size_t)n : size - 1;
}

void sl_table_line(const struct sl_column *columns, size_t count, const char cells[][SL_CELL_BYTES],
		   char line[static SL_TABLE_LINE_BYTES])
{
	size_t used = 0;
	line[0] = '\0';
	for (size_t i = 0; i < count; i++)
		used += put_cell(&columns[i], i + 1 == count, cells[i], line + used,
				 SL_TABLE_LINE_BYTES - used);
}

void sl_table_header(const struct sl_column *columns, size_t count, char line[static SL_TABLE_LINE_BYTES])
{
	char names[SL_COLUMNS_MOST][SL_CELL_BYTES];
	assert(count <= SL_COLUMNS_MOST);
	for (size_t i = 0; i < count; i++)
		snprintf(names[i], sizeof names[i], "%s", columns[i].name);
	sl_table_line(columns, count, names, line);
}
