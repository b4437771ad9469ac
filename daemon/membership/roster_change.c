#include "daemon/membership/roster_change.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* Write the changed members as text: "bo (2), 7 (gone) and 3 more". */
static void members_text(const struct sl_roster *roster, const sl_id *ids, uint32_t count, char *text,
			 size_t size)
{
	size_t used = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < count && i < SL_STORE_CHANGES_NAMED && used < size; i++) {
		int at = sl_roster_find(roster, ids[i]);
		const char *before = i > 0 ? ", " : "";
		used += (size_t)(at < 0 ? snprintf(text + used, size - used, "%s%" PRIu32 " (gone)", before,
						   ids[i])
					: snprintf(text + used, size - used, "%s%s (%" PRIu32 ")", before,
						   roster->members[at].name, ids[i]));
	}
	if (count > SL_STORE_CHANGES_NAMED && used < size)
		snprintf(text + used, size - used, " and %" PRIu32 " more", count - SL_STORE_CHANGES_NAMED);
}

int sl_roster_change_find(struct sl_store *store, const struct sl_roster *roster,
			  struct sl_roster_change *change, struct sl_error *error)
{
	sl_id ids[SL_STORE_CHANGES_NAMED];
	struct sl_store_round last = {0};
	change->count = store != NULL ? sl_store_roster_changes(store, ids) : 0;
	int rc = change->count == 0 ? SL_OK : sl_store_last_round(store, &last, error);
	if (rc == SL_ERR_NOTFOUND)
		change->count = 0; /* no round has committed */
	if (rc != SL_OK || change->count == 0)
		return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
	change->since = last.t;
	members_text(roster, ids, change->count, change->members, sizeof change->members);
	sodium_bin2hex(change->hash, sizeof change->hash, roster->hash, sizeof roster->hash);
	return SL_OK;
}

bool sl_roster_change_accepted(const struct sl_settings *settings, const struct sl_roster *roster)
{
	const char *given = settings->accept_roster;
	char hash[2 * SL_HASH_BYTES + 1];
	sodium_bin2hex(hash, sizeof hash, roster->hash, sizeof roster->hash);
	return given[0] != '\0' && strncmp(given, hash, strlen(given)) == 0;
}

/* Several changes at once are likely a mistake, and can single out the model of one learner. */
int sl_roster_change_check(struct sl_store *store, const struct sl_roster *roster,
			   const struct sl_settings *settings, struct sl_error *error)
{
	struct sl_roster_change change;
	int rc = sl_roster_change_find(store, roster, &change, error);
	if (rc == SL_OK && change.count > 1 && !sl_roster_change_accepted(settings, roster))
		return sl_err_set(
			error, SL_ERR_REFUSED,
			"%s: %" PRIu32
			" learners were added, removed or given another key since round %" PRIu32
			" committed: %.160s; if this is meant, start once with --set accept_roster=%.*s",
			settings->roster, change.count, change.since, change.members, (int)SL_ACCEPT_DIGITS,
			change.hash);
	return rc;
}
