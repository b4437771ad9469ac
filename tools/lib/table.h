/* table.h - rows of cells under column names. Pure: cells in, a line out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sl_column {
	const char *name;
	uint32_t width; /* with the gap before it */
	bool left;	/* aligned to the left, after a gap of two; else to the right */
};

#define SL_COLUMNS_MOST 16u
#define SL_CELL_BYTES 32u
#define SL_TABLE_LINE_BYTES 512u

/* Write one line of cells, without its newline; the last cell takes the room that its text needs. */
void sl_table_line(const struct sl_column *columns, size_t count, const char cells[][SL_CELL_BYTES],
		   char line[static SL_TABLE_LINE_BYTES]);

/* Write the column names as such a line. */
void sl_table_header(const struct sl_column *columns, size_t count, char line[static SL_TABLE_LINE_BYTES]);
