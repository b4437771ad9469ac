/* seen.c - the row of the sums that the learner has seen (struct sl_seen). */
#include <stdlib.h>
#include <string.h>

#include "daemon/store/records.h"
#include "daemon/store/row.h"

/* Members: of the roster, and of each sum. The core forgets those that are in neither. */
#define MEMBERS_MAX ((1 + SL_SEEN_SUMS) * SL_LEARNERS_MAX)

int sl_store_put_seen(struct sl_store *store, const struct sl_seen *seen)
{
	struct sl_row row = sl_row_begin(&store->database, SL_STATEMENT_PUT_SEEN, "seen");
	sl_row_put_bytes(&row, seen, sl_seen_size(seen));
	return sl_row_write(&row);
}

/* Copy the sums into *context; SQLite's bytes may be unaligned. */
static int read_seen(struct sl_database *database, enum sl_statement which, void *context)
{
	struct sl_seen **seen = context;
	struct sl_row row = sl_row_begin(database, which, "seen");
	size_t size, most = sizeof **seen + MEMBERS_MAX * sizeof *(*seen)->members;
	const void *bytes = sl_row_blob(&row, most, &size);
	int rc = sl_row_end(&row);
	if (rc != SL_OK)
		return rc;
	if (bytes == NULL || size < sizeof **seen)
		return sl_database_damaged(database, "seen", "too short");
	*seen = malloc(size);
	if (*seen == NULL)
		return sl_database_no_memory(database);
	memcpy(*seen, bytes, size);
	return sl_seen_size(*seen) == size ? SL_OK
					   : sl_database_damaged(database, "seen", "not a list of learners");
}

int sl_store_read_seen(struct sl_store *store, struct sl_seen **seen)
{
	int rc = sl_database_each(&store->database, SL_STATEMENT_SEEN, read_seen, seen);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}
