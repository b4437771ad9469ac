/* figure.h - one measured quantity: its samples, median and spread. Pure. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define SL_SAMPLES_MOST 101u

struct sl_figure {
	char name[64];
	char unit[16]; /* "s", "ns a share", "x": a ratio */
	double samples[SL_SAMPLES_MOST];
	uint32_t count;
};

struct sl_spread {
	double least, median, most;
};

/* More than SL_SAMPLES_MOST are not kept. */
void sl_figure_add(struct sl_figure *figure, double sample);
/* All NaN without samples. */
struct sl_spread sl_figure_spread(const struct sl_figure *figure);
json_t *sl_figure_json(const struct sl_figure *figure);
