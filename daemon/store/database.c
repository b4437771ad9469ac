/* The database of a store: created completely or not at all, checked completely when it is opened.
 *
 * The rollback journal stays (PERSIST): a commit ends when its header is overwritten and synchronised. With
 * DELETE and synchronous=FULL the folder is not synchronised after the removal of the journal, so that a loss
 * of power right after a commit can bring the journal back and undo the commit. WAL needs a quarter of the
 * synchronisations, but committed pages stay in the log for long, and a damaged page there silently loses all
 * later commits.
 */
#include "daemon/store/store_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)
#define APPLICATION 1397515362 /* "SLdb" in the header of the file */
#define FORMAT 1

/* Largest row: a view and its Readys. */
#define VALUE_BYTES_MAX (SL_STORE_VIEW_BYTES_MAX + SL_LEARNERS_MAX * SL_STORE_READY_BYTES + 4096u)

static const char *const tables[] = {
	"CREATE TABLE learner (one INTEGER PRIMARY KEY, run TEXT NOT NULL, pin BLOB NOT NULL, members BLOB "
	"NOT NULL, "
	"incarnation INTEGER NOT NULL, before INTEGER NOT NULL, sum BLOB NOT NULL) STRICT",
	"CREATE TABLE rounds (t INTEGER PRIMARY KEY, a INTEGER NOT NULL, view BLOB NOT NULL, digest BLOB NOT "
	"NULL, "
	"p INTEGER NOT NULL, learners INTEGER NOT NULL, total_weight INTEGER NOT NULL, checkpoint TEXT NOT "
	"NULL, "
	"checkpoint_sum BLOB NOT NULL, result TEXT NOT NULL, result_sum BLOB NOT NULL, committed_at INTEGER "
	"NOT NULL, "
	"sum BLOB NOT NULL) STRICT",
	"CREATE TABLE attempts (t INTEGER NOT NULL, a INTEGER NOT NULL, state INTEGER NOT NULL, h BLOB NOT "
	"NULL, "
	"view BLOB NOT NULL, readys BLOB NOT NULL, sum BLOB NOT NULL, PRIMARY KEY (t, a)) STRICT, WITHOUT "
	"ROWID",
	"CREATE TABLE aborts (t INTEGER PRIMARY KEY, a INTEGER NOT NULL, sum BLOB NOT NULL) STRICT",
};
#define TABLES (sizeof tables / sizeof tables[0])

static const char *const statements[SL_STATEMENT_COUNT] = {
#define X(name, sql) sql,
	SL_STATEMENTS(X)
#undef X
};

/* ---- errors ---- */

int sl_store_damaged(struct sl_store *store, const char *table, const char *why)
{
	return sl_err_set(&store->error, SL_ERR_FORMAT,
			  "%s: file is damaged: %s%s%s; move the state folder away, and start again when the "
			  "others have "
			  "committed another round: they have the result",
			  store->path, table == NULL ? "" : table, table == NULL ? "" : ": ", why);
}

static int fail_system(struct sl_store *store, int code, const char *advice)
{
	int why = sqlite3_system_errno(store->db);
	if (why == 0) /* the error of a failed commit is reported by the commit */
		sqlite3_file_control(store->db, "main", SQLITE_FCNTL_LAST_ERRNO, &why);
	return sl_err_set(&store->error, SL_ERR_IO, "%s: %s; %s", store->path,
			  why != 0 ? strerror(why) : sqlite3_errstr(code), advice);
}

/* Report SQLite's last error. */
static int fail(struct sl_store *store)
{
	int code = store->db == NULL ? SQLITE_NOMEM : sqlite3_extended_errcode(store->db);
	switch (code & 0xff) {
	case SQLITE_NOMEM:
		return sl_err_set(&store->error, SL_ERR_NOMEM, "%s: out of memory", store->path);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return sl_err_set(&store->error, SL_ERR_BUSY, "%s: another program has it open; end it first",
				  store->path);
	case SQLITE_FULL:
		return sl_err_set(&store->error, SL_ERR_IO,
				  "%s: the disk is full; make room, then start the learner again",
				  store->path);
	case SQLITE_IOERR:
		return code == SQLITE_IOERR_NOMEM
			       ? sl_err_set(&store->error, SL_ERR_NOMEM, "%s: out of memory", store->path)
			       : fail_system(store, code, "check the disk, then start the learner again");
	case SQLITE_READONLY:
		if (store->peek) /* a commit was interrupted: the next start rolls it back before it reads */
			return SL_ERR_NOTFOUND;
		__attribute__((fallthrough));
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return fail_system(store, code, "give the learner permission to write there");
	case SQLITE_ERROR:
		return sl_store_damaged(store, NULL, sqlite3_errmsg(store->db));
	default:
		return sl_store_damaged(store, NULL, sqlite3_errstr(code & 0xff));
	}
}

/* ---- statements ---- */

void sl_store_reset(struct sl_store *store, enum sl_statement which)
{
	sqlite3_reset(store->statements[which]);
	sqlite3_clear_bindings(store->statements[which]);
}

int sl_store_next(struct sl_store *store, enum sl_statement which)
{
	int code = sqlite3_step(store->statements[which]);
	if (code == SQLITE_ROW)
		return SL_OK;
	return code == SQLITE_DONE ? SL_ERR_NOTFOUND : fail(store);
}

int sl_store_run(struct sl_store *store, enum sl_statement which)
{
	int rc = sl_store_next(store, which);
	assert(rc != SL_OK);
	sl_store_reset(store, which);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}

static int prepare(struct sl_store *store, const char *sql, sqlite3_stmt **statement)
{
	int code = sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
	return code == SQLITE_OK ? SL_OK : fail(store);
}

static int prepare_all(struct sl_store *store)
{
	int rc = SL_OK;
	for (int i = 0; i < SL_STATEMENT_COUNT && rc == SL_OK; i++)
		rc = prepare(store, statements[i], &store->statements[i]);
	return rc;
}

static int command(struct sl_store *store, const char *sql)
{
	return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? SL_OK : fail(store);
}

/* Read the first column of the first row as text. */
static int ask(struct sl_store *store, const char *sql, char *text, size_t size)
{
	sqlite3_stmt *statement;
	int rc = prepare(store, sql, &statement);
	if (rc != SL_OK)
		return rc;
	if (sqlite3_step(statement) == SQLITE_ROW) {
		const unsigned char *found = sqlite3_column_text(statement, 0);
		sqlite3_snprintf((int)size, text, "%s", found == NULL ? (const unsigned char *)"" : found);
	} else {
		rc = fail(store);
	}
	sqlite3_finalize(statement);
	return rc;
}

/* ---- open ---- */

/* Open without locks inside SQLite: one thread at a time uses a store (store.h). Limit the length of values
 * that a damaged file can claim. */
static int open_file(struct sl_store *store)
{
	assert(sqlite3_threadsafe() != 0);
	int flags = store->peek ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	int code = sqlite3_open_v2(store->path, &store->db, flags | SQLITE_OPEN_NOMUTEX,
				   store->peek ? "unix-none" : NULL);
	if (code != SQLITE_OK)
		return fail(store);
	sqlite3_extended_result_codes(store->db, 1);
	sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, (int)VALUE_BYTES_MAX);
	return SL_OK;
}

/* Check the application id before anything is written into the file. */
static int check_header(struct sl_store *store)
{
	char application[16], format[16];
	int rc = ask(store, "PRAGMA application_id", application, sizeof application);
	if (rc == SL_OK)
		rc = ask(store, "PRAGMA user_version", format, sizeof format);
	if (rc != SL_OK)
		return rc;
	if (strcmp(application, TEXT(APPLICATION)) != 0)
		return sl_store_damaged(store, NULL, "not a learner's records");
	if (strcmp(format, TEXT(FORMAT)) != 0)
		return sl_err_set(&store->error, SL_ERR_FORMAT,
				  "%s: written by another version of starlingd (format %s, not %s)",
				  store->path, format, TEXT(FORMAT));
	return SL_OK;
}

/* Check that the file has no other table, index, view or trigger. */
static int check_tables(struct sl_store *store)
{
	sqlite3_stmt *statement;
	size_t found = 0;
	int code, rc = prepare(store, "SELECT sql FROM sqlite_schema ORDER BY rowid", &statement);
	if (rc != SL_OK)
		return rc;
	bool same = true;
	while ((code = sqlite3_step(statement)) == SQLITE_ROW && same) {
		const char *sql = (const char *)sqlite3_column_text(statement, 0);
		same = sql != NULL && found < TABLES && strcmp(sql, tables[found++]) == 0;
	}
	if (code != SQLITE_DONE && code != SQLITE_ROW)
		rc = fail(store);
	else if (!same || found != TABLES)
		rc = sl_store_damaged(store, NULL, "its tables are not those of a learner");
	sqlite3_finalize(statement);
	return rc;
}

/* Take the file exclusively. */
static int settle(struct sl_store *store)
{
	char mode[16] = "";
	int rc = command(
		store,
		"PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON; "
		"PRAGMA temp_store = MEMORY");
	if (rc == SL_OK)
		rc = ask(store, "PRAGMA journal_mode = PERSIST", mode, sizeof mode);
	if (rc == SL_OK && strcmp(mode, "persist") != 0)
		rc = sl_err_set(&store->error, SL_ERR_IO, "%s: its journal cannot be kept", store->path);
	return rc;
}

static int check_pages(struct sl_store *store)
{
	char found[128] = "";
	int rc = ask(store, "PRAGMA integrity_check(1)", found, sizeof found);
	for (char *end = found; (end = strchr(end, '\n')) != NULL;)
		*end = ' '; /* one line of text */
	return rc == SL_OK && strcmp(found, "ok") != 0 ? sl_store_damaged(store, NULL, found) : rc;
}

int sl_store_load(struct sl_store *store)
{
	int rc = open_file(store);
	if (rc == SL_OK)
		rc = check_header(store);
	if (rc == SL_OK)
		rc = check_tables(store);
	if (rc == SL_OK && !store->peek)
		rc = settle(store);
	if (rc == SL_OK)
		rc = check_pages(store);
	if (rc == SL_OK)
		rc = prepare_all(store);
	return rc;
}

void sl_store_unload(struct sl_store *store)
{
	for (int i = 0; i < SL_STATEMENT_COUNT; i++) {
		sqlite3_finalize(store->statements[i]);
		store->statements[i] = NULL;
	}
	sqlite3_close(store->db);
	store->db = NULL;
}

/* ---- make ---- */

/* Write without a journal: an incomplete file never gets its final name. */
static int fill(struct sl_store *store)
{
	int rc = command(
		store,
		"PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
		"PRAGMA application_id = " TEXT(APPLICATION) "; PRAGMA user_version = " TEXT(FORMAT));
	for (size_t i = 0; i < TABLES && rc == SL_OK; i++)
		rc = command(store, tables[i]);
	if (rc == SL_OK)
		rc = prepare_all(store);
	return rc == SL_OK ? sl_store_put_learner(store, &store->mine, store->incarnation) : rc;
}

int sl_store_make(struct sl_store *store)
{
	int rc = open_file(store);
	if (rc == SL_OK)
		rc = fill(store);
	sl_store_unload(store);
	return rc;
}
