/* import_names.h - what nodes are called in a file, and the learners that they become.
 *
 * A node gets an index when its name is first seen. Once all are known, sl_import_names_sort makes them
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
	      "short ways, and an index fits");

/* The index of a name, new or not. SL_ERR_RANGE: longer than SL_NAME_BYTES - 1; SL_ERR_FULL: a node too many.
 */
int sl_import_names_index(struct sl_import_names *names, const char *name, size_t length, uint32_t *index);

/* Sorts; vertex[index] is then what the index has become. No more sl_import_names_index after this.
 * SL_ERR_NOMEM is the only error. */
int sl_import_names_sort(struct sl_import_names *names, uint32_t vertex[static SL_LEARNERS_MAX]);

/* Whether learner i is called "i", every one of them. */
bool sl_import_names_same(const struct sl_import_names *names);
