#include "tools/topology/annotations.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/terminal.h"

/* Extend the last line by `step` if it says the same of the step before. */
static bool same_as_before(struct sl_annotations *annotations, uint32_t step, const char *text)
{
	uint32_t last = annotations->count - 1;
	if (annotations->count == 0 || annotations->last[last] + 1 != step ||
	    strcmp(annotations->text[last], text) != 0)
		return false;
	annotations->last[last] = step;
	return true;
}

void sl_annotations_open(struct sl_annotations *annotations)
{
	*annotations = (struct sl_annotations){.count = 0};
	annotations->out = open_memstream(&annotations->written, &annotations->bytes);
	assert(annotations->out != NULL);
}

void sl_annotations_close(struct sl_annotations *annotations)
{
	fclose(annotations->out);
	free(annotations->written);
	for (uint32_t i = 0; i < annotations->count; i++)
		free(annotations->text[i]);
}

char *sl_annotations_take(struct sl_annotations *annotations)
{
	fclose(annotations->out);
	char *text = annotations->written;
	annotations->out = open_memstream(&annotations->written, &annotations->bytes);
	assert(annotations->out != NULL);
	return text;
}

void sl_annotations_add(struct sl_annotations *annotations, uint32_t step)
{
	char *text = sl_annotations_take(annotations);
	bool kept = *text == '\0' || same_as_before(annotations, step, text);
	if (kept || annotations->count == SL_ANNOTATIONS_MOST) {
		annotations->left_out += !kept;
		free(text);
		return;
	}
	annotations->text[annotations->count] = text;
	annotations->first[annotations->count] = annotations->last[annotations->count] = step;
	annotations->count++;
}

void sl_annotations_print(const struct sl_annotations *annotations, FILE *to)
{
	for (uint32_t i = 0; i < annotations->count; i++) {
		uint32_t first = annotations->first[i] + 1, last = annotations->last[i] + 1;
		if (first == last)
			sl_terminal_print(to, "step %u: %s\n", first, annotations->text[i]);
		else
			sl_terminal_print(to, "steps %u to %u: %s\n", first, last, annotations->text[i]);
	}
	if (annotations->left_out > 0)
		fprintf(to, "... and %u more steps; --json lists all\n", annotations->left_out);
}
