/* annotations.h - remarks on steps, printed below a table: one line for a step, or for consecutive steps with
 * equal remarks.
 *
 * The caller writes to `out`. Then sl_annotations_add takes the text as a remark, or sl_annotations_take
 * returns it. Owns the texts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SL_ANNOTATIONS_MOST 12u /* lines; JSON has them all */

struct sl_annotations {
	FILE *out; /* a text in memory, at `written` */
	char *written;
	size_t bytes;
	char *text[SL_ANNOTATIONS_MOST];
	uint32_t first[SL_ANNOTATIONS_MOST], last[SL_ANNOTATIONS_MOST]; /* steps, from 0 */
	uint32_t count;
	uint32_t left_out; /* steps without a line */
};

void sl_annotations_open(struct sl_annotations *annotations);
void sl_annotations_close(struct sl_annotations *annotations);

/* Return what was written, to free, and begin anew. */
char *sl_annotations_take(struct sl_annotations *annotations);
/* Take what was written as the remark on `step`; "" is no remark. Steps come in order. */
void sl_annotations_add(struct sl_annotations *annotations, uint32_t step);

/* Print all remarks. */
void sl_annotations_print(const struct sl_annotations *annotations, FILE *to);
