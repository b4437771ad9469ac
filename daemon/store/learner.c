/* learner.c - the row of the learner: whose records these are, its starts, the roster of the last commit. */
#include "daemon/store/records.h"
#include "daemon/store/row.h"

#include <stdlib.h>
#include <string.h>

int sl_store_put_learner(struct sl_store *store)
{
	struct sl_row row = sl_row_begin(&store->database, SL_STATEMENT_PUT_LEARNER, "learner");
	sl_row_put_text(&row, store->run);
	sl_row_put_bytes(&row, store->pin, SL_HASH_BYTES);
	sl_row_put_bytes(&row, store->recorded->members,
			 store->recorded->size * sizeof *store->recorded->members);
	sl_row_put_number(&row, store->incarnation);
	return sl_row_write(&row);
}

/* Copy the members into store->read; SQLite's bytes may be unaligned. */
static const char *read_members(struct sl_store *store, struct sl_row *row)
{
	size_t size;
	struct sl_store_roster *list = &store->read;
	const void *bytes = sl_row_blob(row, SL_LEARNERS_MAX * sizeof *list->members, &size);
	if (bytes == NULL || size % sizeof *list->members != 0)
		return "the roster is no list of members";
	list->members = malloc(size);
	if (list->members == NULL)
		return "out of memory";
	memcpy(list->members, bytes, size);
	list->size = (uint32_t)(size / sizeof *list->members);
	return sl_store_roster_flaw(list);
}

/* Return true if the learner that owned the records under `pin` has the present identity as its new key: the
 * roster then gave `pin` to the id to which the roster now gives the identity. */
static bool key_renewed(const struct sl_store *store, const uint8_t pin[static SL_HASH_BYTES])
{
	const struct sl_store_roster *then = &store->read, *now = &store->present;
	for (uint32_t i = 0; i < now->size; i++)
		for (uint32_t j = 0; j < then->size; j++)
			if (now->members[i].id == then->members[j].id &&
			    memcmp(now->members[i].pin, store->pin, SL_HASH_BYTES) == 0 &&
			    memcmp(then->members[j].pin, pin, SL_HASH_BYTES) == 0)
				return true;
	return false;
}

static int refuse_owner(struct sl_store *store, const char *run, const uint8_t pin[static SL_HASH_BYTES])
{
	char shown[SL_PIN_TEXT_BYTES];
	const char *path = store->database.path;
	if (strcmp(run, store->run) != 0)
		return sl_err_set(
			&store->database.error, SL_ERR_REFUSED,
			"%s: holds the records of run %s, not of %s; give each run a state folder of its own",
			path, run, store->run);
	if (memcmp(pin, store->pin, SL_HASH_BYTES) == 0 || key_renewed(store, pin))
		return SL_OK;
	sl_roster_pin_text(pin, shown);
	return sl_err_set(
		&store->database.error, SL_ERR_REFUSED,
		"%s: holds the records of another identity, %s; give each learner a state folder of its own",
		path, shown);
}

static int read_learner(struct sl_database *database, enum sl_statement which, void *context)
{
	struct sl_store *store = context;
	char run[SL_NAME_BYTES];
	uint8_t pin[SL_HASH_BYTES];
	struct sl_row row = sl_row_begin(database, which, "learner");
	sl_row_text(&row, run, SL_NAME_BYTES);
	sl_row_bytes(&row, pin, SL_HASH_BYTES);
	const char *flaw = read_members(store, &row);
	store->recorded = &store->read;
	store->incarnation = (uint32_t)sl_row_number(&row, UINT32_MAX);
	int rc = sl_row_end(&row);
	if (rc == SL_OK && flaw != NULL)
		rc = sl_database_damaged(database, "learner", flaw);
	return rc == SL_OK ? refuse_owner(store, run, pin) : rc;
}

int sl_store_check_learner(struct sl_store *store)
{
	int rc = sl_database_each(&store->database, SL_STATEMENT_LEARNER, read_learner, store);
	return rc == SL_ERR_NOTFOUND ? sl_database_damaged(&store->database, "learner", "the row is missing")
				     : rc;
}

int sl_store_count_start(struct sl_store *store)
{
	if (store->incarnation == UINT32_MAX)
		return sl_database_damaged(&store->database, "learner", "no start can be counted any more");
	store->incarnation++;
	return sl_store_put_learner(store);
}

uint32_t sl_store_incarnation(const struct sl_store *store)
{
	return store->incarnation;
}

uint32_t sl_store_roster_changes(const struct sl_store *store, sl_id ids[static SL_STORE_CHANGES_NAMED])
{
	return sl_store_roster_differences(store->recorded, &store->present, ids);
}
