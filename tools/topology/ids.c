#include "tools/topology/ids.h"

void sl_ids_write(FILE *out, const uint32_t *vertices, size_t count)
{
	size_t said = count > SL_IDS_MOST ? SL_IDS_MOST : count;
	for (size_t i = 0; i < said; i++) {
		const char *before = i == 0 ? "" : i + 1 == count ? " and " : ", ";
		fprintf(out, "%s%u", before, vertices[i] + 1);
	}
	if (count > said)
		fprintf(out, ", ... and %zu more", count - said);
}

void sl_ids_write_learners(FILE *out, const uint32_t *vertices, size_t count)
{
	fputs(count == 1 ? "learner " : "learners ", out);
	sl_ids_write(out, vertices, count);
}

void sl_ids_text(const uint32_t *vertices, size_t count, char *text, size_t size)
{
	FILE *out = fmemopen(text, size, "w");
	*text = '\0';
	if (out == NULL)
		return;
	sl_ids_write_learners(out, vertices, count);
	fclose(out);
}
