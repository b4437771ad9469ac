#include "tools/topology/annotations.h"

#include <stdlib.h>
#include <string.h>

#include "tools/lib/terminal.h"

static bool same_as_before(struct sl_notes *notes, uint32_t step, const char *text)
{
	uint32_t last = notes->count - 1;
	if (notes->count == 0 || notes->last[last] + 1 != step || strcmp(notes->text[last], text) != 0)
		return false;
	notes->last[last] = step;
	return true;
}

void sl_notes_add(struct sl_notes *notes, uint32_t step, char *text)
{
	bool said = text == NULL || *text == '\0' || same_as_before(notes, step, text);
	if (said || notes->count == SL_NOTES_MOST) {
		notes->left_out += !said;
		free(text);
		return;
	}
	notes->text[notes->count] = text;
	notes->first[notes->count] = notes->last[notes->count] = step;
	notes->count++;
}

static void print_note(const struct sl_notes *notes, uint32_t i, FILE *out)
{
	uint32_t first = notes->first[i] + 1, last = notes->last[i] + 1;
	char *line = NULL;
	size_t bytes = 0, width = sl_terminal_width(out);
	FILE *text = open_memstream(&line, &bytes);
	if (text == NULL)
		return;
	if (first == last)
		fprintf(text, "step %u: %s\n", first, notes->text[i]);
	else
		fprintf(text, "steps %u to %u: %s\n", first, last, notes->text[i]);
	if (fclose(text) == 0)
		sl_terminal_fill(out, line, width > 0 ? width : SL_WIDTH_USUAL);
	free(line);
}

void sl_notes_print(struct sl_notes *notes, FILE *out)
{
	for (uint32_t i = 0; i < notes->count; i++) {
		print_note(notes, i, out);
		free(notes->text[i]);
	}
	if (notes->left_out > 0)
		fprintf(out, "... and %u more steps; --json says it of all\n", notes->left_out);
	*notes = (struct sl_notes){.count = 0};
}
