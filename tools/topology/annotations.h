/* annotations.h - remarks on steps, printed below a table: one line for a step, or for consecutive steps with
 * equal remarks.
 *
 * Owns the texts that it keeps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SL_ANNOTATIONS_MOST 12u /* lines; JSON has them all */

struct sl_annotations {
	char *text[SL_ANNOTATIONS_MOST];
	uint32_t first[SL_ANNOTATIONS_MOST], last[SL_ANNOTATIONS_MOST]; /* steps, from 0 */
	uint32_t count;
	uint32_t left_out; /* steps without a line */
};

/* Add a remark on `step` and take over `text`, which was allocated; NULL or "" is no remark. Steps come in
 * order. */
void sl_annotations_add(struct sl_annotations *annotations, uint32_t step, char *text);

/* Print and free all remarks. */
void sl_annotations_print(struct sl_annotations *annotations, FILE *out);
