/* scale.h - an axis of a chart: from numbers to places, and which numbers are written beside it. Pure.
 *
 * Places count from 0 at `low` to 1 at `high`. A logarithmic scale is for numbers above 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sl_scale {
	bool log;
	double low, high; /* low < high; low > 0 when log */
};

#define SL_TICKS_MOST 16u
#define SL_TICK_BYTES 32u

/* The scale of numbers from low to high, widened when they are one. `round`: to whole steps between ticks. */
struct sl_scale sl_page_scale_of(bool log, double low, double high, bool round);

double sl_page_scale_place(const struct sl_scale *scale, double value);

/* Whether the scale can show the number: finite, and above 0 when log. */
bool sl_page_scale_takes(const struct sl_scale *scale, double value);

/* Numbers with few digits, ascending, within the scale; how many. */
uint32_t sl_page_scale_ticks(const struct sl_scale *scale, double ticks[static SL_TICKS_MOST]);

/* "0.25", "20,000", "10⁻⁶", "2×10⁶" in UTF-8; as its neighbours on the scale are written. */
void sl_page_scale_tick_text(const struct sl_scale *scale, double value, char text[static SL_TICK_BYTES]);
