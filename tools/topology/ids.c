#include "tools/topology/ids.h"

#define SAID 8u /* in a sentence; JSON has them all */

static void write_ids(FILE *out, const uint32_t *vertices, size_t count)
{
	size_t said = count > SAID ? SAID : count;
	fputs(count == 1 ? "learner " : "learners ", out);
	for (size_t i = 0; i < said; i++) {
		const char *before = i == 0 ? "" : i + 1 == count ? " and " : ", ";
		fprintf(out, "%s%u", before, vertices[i] + 1);
	}
	if (count > said)
		fprintf(out, ", ... and %zu more", count - said);
}

void sl_ids_text(const uint32_t *vertices, size_t count, char *text, size_t size)
{
	FILE *out = fmemopen(text, size, "w");
	*text = '\0';
	if (out == NULL)
		return;
	write_ids(out, vertices, count);
	fclose(out);
}
