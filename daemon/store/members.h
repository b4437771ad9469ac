/* members.h - the members of a roster as a store records them, to tell which members changed. */
#pragma once

#include "common/config/roster.h"
#include "daemon/store/store.h"

struct sl_store_member {
	sl_id id;
	uint8_t pin[SL_HASH_BYTES];
};

struct sl_store_roster {
	uint32_t size;
	struct sl_store_member *members; /* owned; ids ascend */
	uint8_t hash[SL_HASH_BYTES];	 /* of the roster; zeros if it was read from disk */
};

/* Copy the members of `roster` into `list`, which owns them; SL_ERR_NOMEM. */
int sl_store_roster_of(struct sl_store_roster *list, const struct sl_roster *roster);
void sl_store_roster_close(struct sl_store_roster *list);
/* Return the reason why `list` is not a roster, or NULL. */
const char *sl_store_roster_flaw(const struct sl_store_roster *list);
/* Return the number of members that are in one list only or have different pins; `ids` receives the first
 * ones. */
uint32_t sl_store_roster_differences(const struct sl_store_roster *old, const struct sl_store_roster *new,
				     sl_id ids[static SL_STORE_CHANGES_NAMED]);
