#include "test/simulator/seen.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* The keys of the tree are the words themselves. */
static int order(const void *a, const void *b)
{
	return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

bool sl_sim_seen_add(void **seen, const uint8_t *uniform)
{
	void *word;
	memcpy(&word, uniform, sizeof word);
	if (tfind(word, seen, order) != NULL)
		return false;
	if (tsearch(word, seen, order) == NULL)
		abort();
	return true;
}

static void keep(void *word)
{
	(void)word;
}

void sl_sim_seen_free(void **seen)
{
	tdestroy(*seen, keep);
	*seen = NULL;
}
