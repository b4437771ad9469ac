/* import_names.h - the names of nodes in a file, and the learners that they become.
 *
 * A node gets an index when its name is first seen. At the end, sl_import_names_sort makes the nodes
 * learners: in numeric order if all names are whole numbers, else in the order of their bytes. Owns nothing;
 * large: keep it on the heap.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

#define SL_NAMES_SLOTS 4096u

struct sl_import_names {
	uint32_t count;
	char name[SL_LEARNERS_MAX][SL_NAME_BYTES];
	uint16_t slot[SL_NAMES_SLOTS]; /* index + 1; 0: free */
};

static_assert(SL_NAMES_SLOTS >= 2 * SL_LEARNERS_MAX && SL_LEARNERS_MAX < UINT16_MAX,
	      "searches are short, and an index fits");

/* Find or add a name; its index in *index. SL_ERR_RANGE: longer than SL_NAME_BYTES - 1; SL_ERR_FULL: too many
 * nodes. */
int sl_import_names_index(struct sl_import_names *names, const char *name, size_t length, uint32_t *index);

/* Sort the names; vertex[index] is the vertex that the index became. No sl_import_names_index after this. */
void sl_import_names_sort(struct sl_import_names *names, uint32_t vertex[static SL_LEARNERS_MAX]);

/* Return whether every learner i has the name "i". */
bool sl_import_names_same(const struct sl_import_names *names);
