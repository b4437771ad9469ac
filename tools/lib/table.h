/* table.h - rows of cells, some of whose columns give way on a narrow terminal. Pure: cells in, a line out.
 *
 * A line never wraps: of the columns that may go, the one with the largest `drop` goes first, until the rest
 * fits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sl_column {
	const char *name;
	uint32_t width; /* with the gap before it */
	uint32_t drop;	/* 0: stays */
	bool left;	/* aligned to the left, after a gap of two; else to the right */
};

#define SL_COLUMNS_MOST 16u
#define SL_CELL_BYTES 32u
#define SL_TABLE_LINE_BYTES 512u

/* Which columns fit into a terminal of `width` columns, as bits; width 0: all. */
uint32_t sl_table_kept(const struct sl_column *columns, size_t count, size_t width);

/* How many of the terminal's columns the kept ones take, the last of them with its full width. */
size_t sl_table_width(const struct sl_column *columns, size_t count, uint32_t kept);

/* One line of cells, without its newline; the last one takes the room that its text needs. */
void sl_table_line(const struct sl_column *columns, size_t count, uint32_t kept,
		   const char cells[][SL_CELL_BYTES], char line[static SL_TABLE_LINE_BYTES]);

/* The names as such a line. */
void sl_table_header(const struct sl_column *columns, size_t count, uint32_t kept,
		     char line[static SL_TABLE_LINE_BYTES]);
