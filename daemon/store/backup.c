/* backup.c - the copy of a store that is in use. */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "daemon/store/records.h"

static int refuse(struct sl_store *store, const char *path, sqlite3 *sqlite)
{
	return sl_err_set(&store->database.error, SL_ERR_REFUSED, "%s: %s", path, sqlite3_errmsg(sqlite));
}

/* Make an empty file for the owner only; SQLite fills it. */
static int make(struct sl_store *store, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return sl_err_set(&store->database.error, SL_ERR_REFUSED, "%s: %s", path, strerror(errno));
	close(fd);
	return SL_OK;
}

/* Copy the database as it is to the empty file `path`. */
static int copy(struct sl_store *store, const char *path)
{
	sqlite3 *sqlite = store->database.sqlite;
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(sqlite, "VACUUM INTO ?", -1, &statement, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
	if (code == SQLITE_OK)
		code = sqlite3_step(statement);
	int rc = code == SQLITE_DONE ? SL_OK : refuse(store, path, sqlite);
	sqlite3_finalize(statement);
	return rc;
}

/* Remove the records of attempts from the copy: without their files and keys they would bind the learner to
 * what it cannot do. */
static int forget_attempts(struct sl_store *store, const char *path)
{
	sqlite3 *sqlite = NULL;
	int rc = SL_OK;
	if (sqlite3_open_v2(path, &sqlite, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
	    sqlite3_exec(
		    sqlite,
		    "PRAGMA journal_mode = OFF; DELETE FROM attempts; DELETE FROM overs; DELETE FROM aborts; "
		    "VACUUM",
		    NULL, NULL, NULL) != SQLITE_OK)
		rc = refuse(store, path, sqlite);
	sqlite3_close(sqlite);
	return rc;
}

/* An error of the copy is none of the store: SL_ERR_REFUSED does not end it. */
int sl_store_backup(struct sl_store *store, const char *folder, struct sl_error *error)
{
	char path[SL_FOLDER_PATH_BYTES];
	struct sl_error spare;
	int rc = sl_store_enter(store);
	sl_folder_path(folder, SL_DATABASE_FILE, path);
	if (rc == SL_OK)
		rc = make(store, path);
	if (rc == SL_OK)
		rc = copy(store, path);
	if (rc == SL_OK)
		rc = forget_attempts(store, path);
	if (rc == SL_OK && sl_folder_mark(folder, &spare) != SL_OK)
		rc = sl_err_set(&store->database.error, SL_ERR_REFUSED, "%s", spare.text);
	if (rc == SL_OK)
		sl_folder_sync(folder, SL_DATABASE_FILE);
	return sl_store_leave(store, rc, error);
}
