/* open.c - open, check and close a store. */
#include "daemon/store/records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/model/disk_error.h"
#include "common/model/safetensors.h"

static int fail_file(struct sl_store *store, const char *path)
{
	return sl_disk_error(&store->database.error, path, errno);
}

/* Check the file of the database; SL_ERR_NOTFOUND: there is none. */
static int look(struct sl_store *store)
{
	struct stat status;
	if (stat(store->database.path, &status) < 0)
		return errno == ENOENT ? SL_ERR_NOTFOUND : fail_file(store, store->database.path);
	if (!S_ISREG(status.st_mode))
		return sl_database_damaged(&store->database, NULL, "it is not a regular file");
	if (status.st_size == 0) /* SQLite would treat an empty file as a new database */
		return sl_database_damaged(&store->database, NULL, "it is empty");
	return SL_OK;
}

/* Remove a file of an earlier database: SQLite would read a log as that of the new file. */
static int clear(struct sl_store *store, const char *name)
{
	char path[SL_FOLDER_PATH_BYTES];
	sl_folder_path(store->folder, name, path);
	return unlink(path) == 0 || errno == ENOENT ? SL_OK : fail_file(store, path);
}

static int make_empty(struct sl_store *store)
{
	int fd = open(store->database.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail_file(store, store->database.path);
	close(fd);
	return SL_OK;
}

/* Fill an empty file with a database that holds the row of the learner. */
static int fill(struct sl_store *store)
{
	store->recorded = &store->present;
	int rc = sl_database_make(&store->database);
	if (rc == SL_OK)
		rc = sl_store_put_learner(store);
	sl_database_close(&store->database);
	return rc;
}

/* Make the database under a temporary name, then rename it. */
static int make(struct sl_store *store)
{
	static const char temporary[] = SL_DATABASE_FILE SL_TEMPORARY;
	sl_folder_path(store->folder, temporary, store->database.path);
	int rc = clear(store, temporary);
	if (rc == SL_OK)
		rc = clear(store, SL_DATABASE_FILE SL_DATABASE_LOG);
	if (rc == SL_OK)
		rc = make_empty(store);
	if (rc == SL_OK)
		rc = fill(store);
	if (rc == SL_OK)
		rc = sl_folder_rename(store->folder, temporary, SL_DATABASE_FILE, &store->database.error);
	sl_folder_path(store->folder, SL_DATABASE_FILE, store->database.path);
	return rc;
}

/* Find the database or make it; SL_ERR_NOTFOUND: a new folder with `peek`, or one that has lost its database.
 */
static int find(struct sl_store *store, bool marked)
{
	int rc = look(store);
	if (rc != SL_ERR_NOTFOUND)
		return rc;
	if (!marked)
		return store->database.peek ? SL_ERR_NOTFOUND : make(store);
	return sl_err_set(
		&store->database.error, SL_ERR_NOTFOUND,
		"%s: is gone, and with it what this learner has promised to others; put it back, "
		"or move the state folder away and start again: the others show this learner what it "
		"has signed",
		store->database.path);
}

static int open_records(struct sl_store *store)
{
	bool marked = sl_folder_marked(store->folder), peek = store->database.peek;
	int rc = find(store, marked);
	if (rc == SL_OK)
		rc = sl_database_open(&store->database);
	if (rc == SL_OK)
		rc = sl_store_check_learner(store);
	if (rc == SL_OK)
		rc = sl_store_read_last(store);
	if (rc == SL_OK)
		rc = sl_store_check_attempts(store);
	if (rc == SL_OK)
		rc = sl_store_check_overs(store);
	if (rc == SL_OK)
		rc = sl_store_read_ledger(store);
	if (rc == SL_OK)
		rc = sl_store_settle_ledger(store);
	if (rc == SL_OK && !peek)
		rc = sl_seal_open(&store->seal, store->folder, &store->database.error);
	if (rc == SL_OK && !peek)
		rc = sl_store_account_open(store);
	if (rc == SL_OK && !peek) /* a crash may have left that of an attempt that is over */
		rc = sl_store_erase_key(store, true);
	if (rc == SL_OK && !peek)
		rc = sl_store_count_start(store);
	if (rc == SL_OK)
		rc = sl_database_settle(&store->database);
	if (rc == SL_OK && !peek && !marked)
		rc = sl_folder_mark(store->folder, &store->database.error);
	return rc;
}

static struct sl_store *new_store(const char *folder, const struct sl_store_owner *owner)
{
	struct sl_store *store = calloc(1, sizeof *store);
	if (store == NULL)
		return NULL;
	store->lock = store->seal.fd = store->account.file = -1;
	atomic_flag_clear(&store->used);
	strcpy(store->folder, folder);
	strcpy(store->run, owner->run);
	memcpy(store->pin, owner->pin, sizeof store->pin);
	sl_folder_path(folder, SL_DATABASE_FILE, store->database.path);
	if (sl_store_roster_of(&store->present, owner->roster) == SL_OK)
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
	opened->database.peek = peek;
	int rc = peek ? SL_OK : sl_folder_lock(folder, &opened->lock, &opened->database.error);
	if (rc == SL_OK)
		rc = open_records(opened);
	if (rc == SL_OK) {
		*store = opened;
		return SL_OK;
	}
	if (peek && rc == SL_ERR_NOTFOUND && opened->database.error.code == SL_OK)
		rc = SL_OK; /* no store yet */
	if (error != NULL)
		*error = opened->database.error;
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

/* Its lock file has no name any more. Some file systems in user space count no names: so look for the mark,
 * too. */
bool sl_store_deleted(const struct sl_store *store)
{
	struct statx lock; /* as the kernel knows it: a server that hangs is not asked */
	return statx(store->lock, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_NLINK, &lock) == 0 &&
	       lock.stx_nlink == 0 && !sl_folder_marked(store->folder);
}

/* Close the database before the lock is released. After a failure the next start erases the key. */
void sl_store_close(struct sl_store *store)
{
	if (store == NULL)
		return;
	if (store->seal.fd >= 0 && !store->ended)
		sl_store_erase_key(store, true);
	sl_database_close(&store->database);
	sl_seal_close(&store->seal);
	if (store->account.file >= 0)
		close(store->account.file);
	if (store->lock >= 0)
		close(store->lock);
	sl_store_roster_close(&store->present);
	sl_store_roster_close(&store->read);
	free(store);
}
