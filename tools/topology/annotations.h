/* notes.h - what is to be said of steps, below a table: a line each, or one for steps in a row.
 *
 * Owns the texts that it keeps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SL_NOTES_MOST 12u /* lines; JSON has them all */

struct sl_notes {
	char *text[SL_NOTES_MOST];
	uint32_t first[SL_NOTES_MOST], last[SL_NOTES_MOST]; /* steps, from 0 */
	uint32_t count;
	uint32_t left_out; /* steps that got no line */
};

/* Takes over a text that was allocated; nothing to say if it is NULL or empty. Steps come in order. */
void sl_notes_add(struct sl_notes *notes, uint32_t step, char *text);

/* Prints and forgets them. */
void sl_notes_print(struct sl_notes *notes, FILE *out);
