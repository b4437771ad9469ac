#include "tools/topology/import_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/command.h"

static uint32_t hash(const char *name, size_t length)
{
	uint32_t h = 2166136261u; /* FNV-1a: collisions only slow down the import of that file */
	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619u;
	return h;
}

static bool is(const struct sl_import_names *names, uint32_t index, const char *name, size_t length)
{
	return memcmp(names->name[index], name, length) == 0 && names->name[index][length] == '\0';
}

int sl_import_names_index(struct sl_import_names *names, const char *name, size_t length, uint32_t *index)
{
	if (length >= SL_NAME_BYTES)
		return SL_ERR_RANGE;
	uint32_t at = hash(name, length) % SL_NAMES_SLOTS;
	while (names->slot[at] != 0 && !is(names, names->slot[at] - 1u, name, length))
		at = (at + 1) % SL_NAMES_SLOTS;
	if (names->slot[at] == 0) {
		if (names->count == SL_LEARNERS_MAX)
			return SL_ERR_FULL;
		memcpy(names->name[names->count], name, length);
		names->name[names->count][length] = '\0';
		names->slot[at] = (uint16_t)++names->count;
	}
	*index = names->slot[at] - 1u;
	return SL_OK;
}

static bool whole(const char *name)
{
	name += *name == '-';
	return *name != '\0' && name[strspn(name, "0123456789")] == '\0';
}

/* Compare whole numbers of any length. */
static int by_value(const char *x, const char *y)
{
	bool below = *x == '-';
	if (below != (*y == '-'))
		return below ? -1 : 1;
	const char *a = x + below, *b = y + below;
	a += strspn(a, "0");
	b += strspn(b, "0");
	int order = strlen(a) != strlen(b) ? (strlen(a) < strlen(b) ? -1 : 1) : strcmp(a, b);
	return order == 0 ? strcmp(x, y) : below ? -order : order;
}

struct entry {
	char name[SL_NAME_BYTES];
	uint32_t index;
};

static int numbers_up(const void *x, const void *y)
{
	return by_value(((const struct entry *)x)->name, ((const struct entry *)y)->name);
}

static int words_up(const void *x, const void *y)
{
	return strcmp(((const struct entry *)x)->name, ((const struct entry *)y)->name);
}

void sl_import_names_sort(struct sl_import_names *names, uint32_t vertex[static SL_LEARNERS_MAX])
{
	bool numbers = true;
	struct entry *all = sl_command_memory(names->count + 1, sizeof *all);
	for (uint32_t i = 0; i < names->count; i++) {
		memcpy(all[i].name, names->name[i], SL_NAME_BYTES);
		all[i].index = i;
		numbers = numbers && whole(names->name[i]);
	}
	qsort(all, names->count, sizeof *all, numbers ? numbers_up : words_up);
	for (uint32_t v = 0; v < names->count; v++) {
		memcpy(names->name[v], all[v].name, SL_NAME_BYTES);
		vertex[all[v].index] = v;
	}
	free(all);
}

bool sl_import_names_same(const struct sl_import_names *names)
{
	char id[SL_NAME_BYTES];
	for (uint32_t v = 0; v < names->count; v++) {
		snprintf(id, sizeof id, "%u", v + 1);
		if (strcmp(id, names->name[v]) != 0)
			return false;
	}
	return true;
}
