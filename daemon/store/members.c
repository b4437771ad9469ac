#include "daemon/store/members.h"

#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct sl_store_member) == 4 + SL_HASH_BYTES, "members go to disk as they are");

int sl_store_roster_of(struct sl_store_roster *list, const struct sl_roster *roster)
{
	*list = (struct sl_store_roster){.size = roster->size,
					 .members = calloc(roster->size, sizeof *list->members)};
	if (list->members == NULL)
		return SL_ERR_NOMEM;
	memcpy(list->hash, roster->hash, sizeof list->hash);
	for (uint32_t i = 0; i < roster->size; i++) {
		list->members[i].id = roster->members[i].id;
		memcpy(list->members[i].pin, roster->members[i].pin, SL_HASH_BYTES);
	}
	return SL_OK;
}

void sl_store_roster_close(struct sl_store_roster *list)
{
	free(list->members);
	*list = (struct sl_store_roster){0};
}

const char *sl_store_roster_flaw(const struct sl_store_roster *list)
{
	if (list->size < 2)
		return "the roster is too short";
	for (uint32_t i = 0; i < list->size; i++)
		if (list->members[i].id == 0 || (i > 0 && list->members[i].id <= list->members[i - 1].id))
			return "the roster's ids are not ascending";
	return NULL;
}

/* Return the id at position i, or UINT32_MAX after the end: the larger of two ids never is the end of both
 * lists. */
static sl_id id_at(const struct sl_store_roster *list, uint32_t i)
{
	return i < list->size ? list->members[i].id : UINT32_MAX;
}

uint32_t sl_store_roster_differences(const struct sl_store_roster *old, const struct sl_store_roster *new,
				     sl_id ids[static SL_STORE_CHANGES_NAMED])
{
	uint32_t count = 0;
	for (uint32_t i = 0, j = 0; i < old->size || j < new->size;) {
		sl_id was = id_at(old, i), is = id_at(new, j), id = was < is ? was : is;
		bool here = j < new->size &&is == id, there = i < old->size &&was == id;
		bool same =
			here && there && memcmp(old->members[i].pin, new->members[j].pin, SL_HASH_BYTES) == 0;
		if (!same && count < SL_STORE_CHANGES_NAMED)
			ids[count] = id;
		count += !same;
		i += there;
		j += here;
	}
	return count;
}
