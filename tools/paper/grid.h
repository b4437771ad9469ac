/* grid.h - a table of text whose cells go on below when they are full. Columns count letters of UTF-8. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#define SL_GRID_COLUMNS_MOST 8u

struct sl_grid {
	FILE *out; /* borrowed */
	uint32_t columns;
	uint32_t width[SL_GRID_COLUMNS_MOST];
};

/* A table of `total` letters: each column takes what it needs at least, and its share of the rest. */
void sl_paper_grid_open(struct sl_grid *grid, FILE *out, uint32_t columns, const uint32_t *shares,
			const uint32_t *least, uint32_t total);
void sl_paper_grid_row(const struct sl_grid *grid, const char *const *cells);
void sl_paper_grid_rule(const struct sl_grid *grid);
