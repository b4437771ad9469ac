/* thin.h - fewer points for the same line: what a reader could not see goes. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sl_point {
	int32_t x, y; /* tenths of a pixel */
};

/* Leaves those of `count` points without which the line would move by more than `tolerance`; they come first,
 * in order. The first and the last stay. Returns how many are left. */
uint32_t sl_page_thin(struct sl_point *points, uint32_t count, double tolerance);
