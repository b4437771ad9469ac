/* roster_change.h - differences between the roster and that of the last committed round
 * (GROUP.md §12.1 Roster changes). */
#pragma once

#include "common/config/roster.h"
#include "common/config/settings.h"
#include "daemon/store/store.h"

struct sl_roster_change {
	uint32_t count; /* members that were added, removed or have another key; 0: none, or no commit yet */
	sl_round since; /* last committed round */
	char members[320];		  /* the first of them, as text */
	char hash[2 * SL_HASH_BYTES + 1]; /* of the present roster */
};

/* Compare `roster` with that of the last committed round in `store`, which may be NULL. */
int sl_roster_change_find(struct sl_store *store, const struct sl_roster *roster,
			  struct sl_roster_change *change, struct sl_error *error);
/* Return true if the setting accept_roster names the roster by the first digits of its hash. */
bool sl_roster_change_accepted(const struct sl_settings *settings, const struct sl_roster *roster);
/* Refuse a roster in which more than one member changed, unless the setting accept_roster names it. */
int sl_roster_change_check(struct sl_store *store, const struct sl_roster *roster,
			   const struct sl_settings *settings, struct sl_error *error);
