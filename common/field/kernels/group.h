/* group.h - neighbours by weight or divisor: what those of one key have in common is done once for all of
 * them.
 *
 * The order of neighbours makes no difference to a sum. Most graphs make few groups, a regular one makes one.
 */
#pragma once

#include <string.h>

#include "common/base/limits.h"
#include "common/base/types.h"

struct sl_group {
	const uint8_t *states[SL_LEARNERS_MAX];
	uint64_t keys[SL_LEARNERS_MAX];
	uint32_t count;
};

static inline void sl_group_swap(struct sl_group *group, uint32_t a, uint32_t b)
{
	const uint8_t *state = group->states[a];
	uint64_t key = group->keys[a];
	group->states[a] = group->states[b];
	group->keys[a] = group->keys[b];
	group->states[b] = state;
	group->keys[b] = key;
}

/* Puts equal keys side by side. */
static inline void sl_group_sort(struct sl_group *group)
{
	for (uint32_t done = 0; done < group->count;) {
		uint64_t key = group->keys[done];
		for (uint32_t r = done; r < group->count; r++)
			if (group->keys[r] == key)
				sl_group_swap(group, r, done++);
	}
}

/* How many from r on, at most `most`, have the key of r. */
static inline uint32_t sl_group_run(const struct sl_group *group, uint32_t r, uint32_t most)
{
	uint32_t run = 1;
	while (run < most && r + run < group->count && group->keys[r + run] == group->keys[r])
		run++;
	return run;
}
