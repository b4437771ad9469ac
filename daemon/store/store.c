#include "daemon/store/store_internal.h"
#include "daemon/store/row.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one call at a time, none after a fatal error ---- */

int sl_store_enter(struct sl_store *store)
{
	bool used = atomic_flag_test_and_set(&store->used);
	assert(!used); /* a call from another thread, or from a callback */
	return store->ended ? store->error.code : SL_OK;
}

int sl_store_leave(struct sl_store *store, int rc, struct sl_error *error)
{
	if (rc != SL_OK && rc != SL_ERR_INVALID && rc != SL_ERR_REFUSED && rc != SL_ERR_NOTFOUND)
		store->ended = true;
	if (rc != SL_OK && error != NULL)
		*error = store->error;
	atomic_flag_clear(&store->used);
	return rc;
}

/* ---- the row of the learner ---- */

int sl_store_put_learner(struct sl_store *store, const struct sl_store_roster *roster, uint32_t incarnation)
{
	struct sl_row row = sl_row_begin(store, SL_STATEMENT_PUT_LEARNER, "learner");
	sl_row_put_text(&row, store->run);
	sl_row_put_bytes(&row, store->pin, SL_HASH_BYTES);
	sl_row_put_bytes(&row, roster->members, roster->size * sizeof *roster->members);
	sl_row_put_number(&row, incarnation);
	sl_row_put_number(&row, store->before);
	return sl_row_write(&row);
}

/* Copy the members into store->recorded; SQLite's bytes may be unaligned. */
static const char *read_members(struct sl_store *store, struct sl_row *row)
{
	size_t size;
	struct sl_store_roster list = {0};
	const void *bytes = sl_row_blob(row, SL_LEARNERS_MAX * sizeof *list.members, &size);
	list.size = (uint32_t)(size / sizeof *list.members);
	if (bytes == NULL || size % sizeof *list.members != 0)
		return "the roster is no list of members";
	list.members = malloc(size);
	if (list.members == NULL)
		return "out of memory";
	memcpy(list.members, bytes, size);
	store->recorded = list;
	return sl_store_roster_flaw(&list);
}

static int read_learner(struct sl_store *store, char run[static SL_NAME_BYTES],
			uint8_t pin[static SL_HASH_BYTES])
{
	struct sl_row row = sl_row_begin(store, SL_STATEMENT_LEARNER, "learner");
	int rc = sl_store_next(store, SL_STATEMENT_LEARNER);
	if (rc == SL_ERR_NOTFOUND)
		rc = sl_store_damaged(store, "learner", "the row is missing");
	if (rc == SL_OK) {
		sl_row_text(&row, run, SL_NAME_BYTES);
		sl_row_bytes(&row, pin, SL_HASH_BYTES);
		const char *flaw = read_members(store, &row);
		store->incarnation = (uint32_t)sl_row_number(&row, UINT32_MAX);
		store->before = (uint32_t)sl_row_number(&row, UINT32_MAX);
		rc = sl_row_end(&row);
		if (rc == SL_OK && flaw != NULL)
			rc = sl_store_damaged(store, "learner", flaw);
	}
	sl_store_reset(store, SL_STATEMENT_LEARNER);
	return rc;
}

static int check_owner(struct sl_store *store)
{
	char run[SL_NAME_BYTES], shown[SL_PIN_TEXT_BYTES];
	uint8_t pin[SL_HASH_BYTES];
	int rc = read_learner(store, run, pin);
	if (rc != SL_OK)
		return rc;
	if (strcmp(run, store->run) != 0)
		return sl_err_set(
			&store->error, SL_ERR_REFUSED,
			"%s: holds the records of run %s, not of %s; give each run a state folder of its own",
			store->path, run, store->run);
	if (memcmp(pin, store->pin, sizeof pin) == 0)
		return SL_OK;
	sl_roster_pin_text(pin, shown);
	return sl_err_set(
		&store->error, SL_ERR_REFUSED,
		"%s: holds the records of another identity, %s; give each learner a state folder of its own",
		store->path, shown);
}

/* Count this start durably, before anything is signed with the incarnation. */
static int count_start(struct sl_store *store, uint32_t before)
{
	uint32_t last = store->incarnation > before ? store->incarnation : before;
	if (last == UINT32_MAX)
		return sl_store_damaged(store, "learner", "no start can be counted any more");
	store->incarnation = last + 1;
	return sl_store_put_learner(store, &store->recorded, store->incarnation);
}

/* ---- open ---- */

/* Check the file at store->path; SL_ERR_NOTFOUND: there is none. */
static int look(struct sl_store *store)
{
	struct stat status;
	if (stat(store->path, &status) < 0)
		return errno == ENOENT ? SL_ERR_NOTFOUND : sl_store_fail_file(store, store->path);
	if (!S_ISREG(status.st_mode))
		return sl_store_damaged(store, NULL, "it is not a regular file");
	if (status.st_size == 0) /* SQLite would treat an empty file as a new database */
		return sl_store_damaged(store, NULL, "it is empty");
	return SL_OK;
}

/* Remove files of an earlier database: SQLite would roll a journal back into the new file. */
static int clear(struct sl_store *store, const char *name)
{
	char path[SL_STORE_PATH_BYTES];
	sl_store_path(store, name, path);
	return unlink(path) == 0 || errno == ENOENT ? SL_OK : sl_store_fail_file(store, path);
}

static int make_empty(struct sl_store *store)
{
	int fd = open(store->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return sl_store_fail_file(store, store->path);
	close(fd);
	return SL_OK;
}

/* Make the database under a temporary name, then rename it. */
static int make(struct sl_store *store)
{
	static const char temporary[] = SL_STORE_FILE SL_TEMPORARY;
	sl_store_path(store, temporary, store->path);
	int rc = clear(store, temporary);
	if (rc == SL_OK)
		rc = clear(store, SL_STORE_FILE "-journal");
	if (rc == SL_OK)
		rc = make_empty(store);
	if (rc == SL_OK)
		rc = sl_store_make(store);
	if (rc == SL_OK)
		rc = sl_store_name_file(store, temporary, SL_STORE_FILE);
	sl_store_path(store, SL_STORE_FILE, store->path);
	return rc;
}

static int find(struct sl_store *store, uint32_t before, bool had_one)
{
	int rc = look(store);
	if (rc != SL_ERR_NOTFOUND)
		return rc;
	store->before = before;
	if (!had_one)
		return store->peek ? SL_ERR_NOTFOUND : make(store);
	return sl_err_set(&store->error, SL_ERR_NOTFOUND,
			  "%s: is gone, and with it what this learner has promised to others; put it back, "
			  "or move the state "
			  "folder away and start again when the others have committed another round",
			  store->path);
}

static int open_records(struct sl_store *store)
{
	uint32_t before;
	bool moved;
	int rc = sl_store_read_count(store, &before, &moved);
	if (rc == SL_OK)
		rc = find(store, before, moved);
	if (rc == SL_OK)
		rc = sl_store_load(store);
	if (rc == SL_OK)
		rc = check_owner(store);
	if (rc == SL_OK)
		rc = sl_store_read_last(store);
	if (rc == SL_OK)
		rc = sl_store_check_attempts(store);
	if (rc == SL_OK && !store->peek)
		rc = count_start(store, before);
	if (rc == SL_OK && !store->peek && !moved)
		rc = sl_store_move_count(store);
	return rc;
}

static struct sl_store *new_store(const char *folder, const struct sl_store_owner *owner)
{
	struct sl_store *store = calloc(1, sizeof *store);
	if (store == NULL)
		return NULL;
	store->lock = -1;
	atomic_flag_clear(&store->used);
	strcpy(store->folder, folder);
	strcpy(store->run, owner->run);
	memcpy(store->pin, owner->pin, sizeof store->pin);
	sl_store_path(store, SL_STORE_FILE, store->path);
	if (sl_store_roster_of(&store->mine, owner->roster) == SL_OK)
		return store;
	free(store);
	return NULL;
}

static int open_store(struct sl_store **store, const char *folder, const struct sl_store_owner *owner,
		      bool peek, struct sl_error *error)
{
	*store = NULL;
	if (strlen(folder) >= SL_PATH_BYTES || strlen(owner->run) >= SL_NAME_BYTES)
		return sl_err_set(error, SL_ERR_RANGE, "%s: the folder's path or the run's name is too long",
				  folder);
	struct sl_store *opened = new_store(folder, owner);
	if (opened == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "%s: out of memory", folder);
	opened->peek = peek;
	int rc = peek ? SL_OK : sl_store_lock(opened);
	if (rc == SL_OK)
		rc = open_records(opened);
	if (rc == SL_OK) {
		*store = opened;
		return SL_OK;
	}
	if (peek && rc == SL_ERR_NOTFOUND && opened->error.code == SL_OK)
		rc = SL_OK; /* no store yet */
	if (error != NULL)
		*error = opened->error;
	sl_store_close(opened);
	return rc;
}

int sl_store_open(struct sl_store **store, const char *folder, const struct sl_store_owner *owner,
		  struct sl_error *error)
{
	return open_store(store, folder, owner, false, error);
}

/* Read twice if rows look damaged: a running learner may commit while the file is read without a lock. */
int sl_store_peek(struct sl_store **store, const char *folder, const struct sl_store_owner *owner,
		  struct sl_error *error)
{
	int rc = open_store(store, folder, owner, true, error);
	return rc == SL_ERR_FORMAT ? open_store(store, folder, owner, true, error) : rc;
}

/* Close the database before the lock is released. */
void sl_store_close(struct sl_store *store)
{
	if (store == NULL)
		return;
	sl_store_unload(store);
	if (store->lock >= 0)
		close(store->lock);
	sl_store_roster_close(&store->mine);
	sl_store_roster_close(&store->recorded);
	free(store);
}

uint32_t sl_store_incarnation(const struct sl_store *store)
{
	return store->incarnation;
}

bool sl_store_taken_over(const struct sl_store *store)
{
	return store->before > 0;
}

uint32_t sl_store_roster_changes(const struct sl_store *store, sl_id ids[static SL_STORE_CHANGES_NAMED])
{
	return sl_store_roster_differences(&store->recorded, &store->mine, ids);
}
