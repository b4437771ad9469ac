/* database.c - created completely or not at all, checked completely when it is opened.
 *
 * SQLite writes ahead (WAL): a commit appends pages to learner.db-wal and synchronises that file once. The
 * index of the log is in memory, because the lock is exclusive: there is no -shm file, which a network file
 * system could not share. Pages stay in the log
 * until it is emptied into the database, by sl_database_rest or at the end, so it may hold what was deleted
 * since: secrets are therefore sealed before they are written (seal.h).
 *
 * The price: SQLite takes a damaged page of the log for its end, so later commits are lost without an error.
 * The learner then is as one whose disk was set back (GROUP.md §12.4).
 */
#include "daemon/store/database.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/model/disk_error.h"

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)
#define APPLICATION 1397515362 /* "SLdb" in the header of the file */
#define FORMAT 11

/* Largest row: a view, its Readys and the secrets. */
#define VALUE_BYTES_MAX                                                                                      \
	(SL_DATABASE_VIEW_BYTES_MAX + SL_LEARNERS_MAX * SL_DATABASE_READY_BYTES +                            \
	 SL_DATABASE_SECRETS_BYTES_MAX + 4096u)

#define MAY_WRITE "give the learner permission to write there"

#define SEEN "CREATE TABLE seen (one INTEGER PRIMARY KEY, sums BLOB NOT NULL, sum BLOB NOT NULL) STRICT"

#define LEDGER                                                                                               \
	"CREATE TABLE ledger (one INTEGER PRIMARY KEY, t INTEGER NOT NULL, a INTEGER NOT NULL, incarnation " \
	"INTEGER NOT NULL, charges INTEGER NOT NULL, guessed INTEGER NOT NULL, spent BLOB NOT NULL, sum "    \
	"BLOB NOT NULL) STRICT"

#define ACCOUNT                                                                                              \
	"CREATE TABLE account (number INTEGER PRIMARY KEY, start INTEGER NOT NULL, link BLOB NOT NULL, "     \
	"record BLOB NOT NULL, sum BLOB NOT NULL) STRICT"

static const char *const tables[] = {
	"CREATE TABLE learner (one INTEGER PRIMARY KEY, run TEXT NOT NULL, pin BLOB NOT NULL, members BLOB "
	"NOT NULL, "
	"incarnation INTEGER NOT NULL, sum BLOB NOT NULL) STRICT",
	"CREATE TABLE rounds (t INTEGER PRIMARY KEY, a INTEGER NOT NULL, view BLOB NOT NULL, digest BLOB NOT "
	"NULL, "
	"p INTEGER NOT NULL, learners INTEGER NOT NULL, total_weight INTEGER NOT NULL, checkpoint TEXT NOT "
	"NULL, "
	"checkpoint_sum BLOB NOT NULL, result TEXT NOT NULL, result_sum BLOB NOT NULL, committed_at INTEGER "
	"NOT NULL, "
	"sum BLOB NOT NULL) STRICT",
	"CREATE TABLE attempts (t INTEGER NOT NULL, a INTEGER NOT NULL, state INTEGER NOT NULL, vote "
	"INTEGER NOT NULL, h BLOB NOT NULL, view BLOB NOT NULL, ready BLOB NOT NULL, readys BLOB NOT NULL, "
	"secrets BLOB NOT NULL, sum BLOB NOT NULL, PRIMARY KEY (t, "
	"a)) STRICT, WITHOUT ROWID",
	"CREATE TABLE overs (t INTEGER NOT NULL, a INTEGER NOT NULL, reuse INTEGER NOT NULL, h BLOB NOT "
	"NULL, "
	"ready BLOB NOT NULL, aborts BLOB NOT NULL, sum BLOB NOT NULL, PRIMARY KEY (t, a)) STRICT, WITHOUT "
	"ROWID",
	"CREATE TABLE aborts (t INTEGER PRIMARY KEY, a INTEGER NOT NULL, sum BLOB NOT NULL) STRICT",
	SEEN,
	LEDGER,
	ACCOUNT,
};
#define TABLES (sizeof tables / sizeof tables[0])

/* How the records of an earlier format become those of the next one, when a learner opens them. */
struct step {
	int from;
	const char *obstacles; /* a query: the number of rows that cannot be taken over */
	const char *why;       /* after the two formats, if there are any */
	const char *sql;
};

#define ATTEMPTS "SELECT count(*) FROM attempts"
#define OPEN                                                                                                 \
	"it has an attempt that is open, which only learners of that version can end: run that version "     \
	"until the next commit"

#define UNFINISHED "it has attempts of a round that has not committed: run that version until the next commit"

static const struct step steps[] = {
	/* The view of an attempt got a parameter, and its hash another beginning. */
	{4, ATTEMPTS, OPEN, ""},
	/* The sums that were seen are remembered from now on. */
	{5, "SELECT 0", "", SEEN},
	/* The view of an attempt has no numbers that the roster settles. */
	{6, ATTEMPTS, OPEN, ""},
	/* One kind of Abort; a Digest leaves only after SIGNS. */
	{7, ATTEMPTS " UNION ALL SELECT count(*) FROM overs ORDER BY 1 DESC", UNFINISHED, ""},
	/* What is spent of the privacy is on record from now on. */
	{8, "SELECT 0", "", LEDGER},
	/* The masks of deposits are made in blocks, and the hash of a deposit got another beginning. */
	{9, ATTEMPTS, OPEN, ""},
	/* There is an account of the rounds from now on. */
	{10, "SELECT 0", "", ACCOUNT},
};

static const char *const statements[SL_STATEMENT_COUNT] = {
#define X(name, sql) sql,
	SL_STATEMENTS(X)
#undef X
};

/* ---- errors ---- */

int sl_database_damaged(struct sl_database *database, const char *table, const char *why)
{
	return sl_err_set(
		&database->error, SL_ERR_FORMAT,
		"%s: file is damaged: %s%s%s; move the state folder away and start again: the others "
		"have the result, and show this learner what it has signed",
		database->path, table == NULL ? "" : table, table == NULL ? "" : ": ", why);
}

int sl_database_no_memory(struct sl_database *database)
{
	return sl_err_set(&database->error, SL_ERR_NOMEM, "%s: out of memory", database->path);
}

/* Return the error of the system behind SQLite's last one; 0: none. That of a failed commit is kept by the
 * file of the database or of its log. */
static int system_error(sqlite3 *sqlite)
{
	sqlite3_file *log = NULL;
	int why = sqlite3_system_errno(sqlite);
	if (why == 0)
		sqlite3_file_control(sqlite, "main", SQLITE_FCNTL_LAST_ERRNO, &why);
	if (why == 0)
		sqlite3_file_control(sqlite, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
	if (log != NULL && log->pMethods != NULL)
		log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &why);
	return why;
}

static int fail_system(struct sl_database *database, int code, const char *advice)
{
	int why = system_error(database->sqlite);
	return sl_err_set(&database->error, SL_ERR_IO, "%s: %s; %s", database->path,
			  why != 0 ? strerror(why) : sqlite3_errstr(code),
			  why != 0 ? sl_disk_error_advice(why) : advice);
}

/* Report SQLite's last error. */
static int fail(struct sl_database *database)
{
	int code = database->sqlite == NULL ? SQLITE_NOMEM : sqlite3_extended_errcode(database->sqlite);
	switch (code & 0xff) {
	case SQLITE_NOMEM:
		return sl_database_no_memory(database);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return sl_err_set(&database->error, SL_ERR_BUSY,
				  "%s: another program has it open; end it first", database->path);
	case SQLITE_FULL:
		return sl_err_set(&database->error, SL_ERR_IO,
				  "%s: the disk is full; make room, then start the learner again",
				  database->path);
	case SQLITE_IOERR:
		return code == SQLITE_IOERR_NOMEM
			       ? sl_database_no_memory(database)
			       : fail_system(database, code, "check the disk, then start the learner again");
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return fail_system(database, code, MAY_WRITE);
	case SQLITE_ERROR:
		return sl_database_damaged(database, NULL, sqlite3_errmsg(database->sqlite));
	default:
		return sl_database_damaged(database, NULL, sqlite3_errstr(code & 0xff));
	}
}

/* ---- statements ---- */

static void reset(struct sl_database *database, enum sl_statement which)
{
	sqlite3_reset(database->statements[which]);
	sqlite3_clear_bindings(database->statements[which]);
}

void sl_database_bind(struct sl_database *database, enum sl_statement which, int at, int64_t value)
{
	sqlite3_bind_int64(database->statements[which], at, value);
}

int sl_database_run(struct sl_database *database, enum sl_statement which)
{
	int code = sqlite3_step(database->statements[which]);
	assert(code != SQLITE_ROW);
	int rc = code == SQLITE_DONE ? SL_OK : fail(database);
	reset(database, which);
	return rc;
}

int sl_database_each(struct sl_database *database, enum sl_statement which,
		     int (*each)(struct sl_database *database, enum sl_statement which, void *context),
		     void *context)
{
	int code, rc = SL_ERR_NOTFOUND;
	while ((code = sqlite3_step(database->statements[which])) == SQLITE_ROW) {
		rc = each(database, which, context);
		if (rc != SL_OK)
			break;
	}
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		rc = fail(database);
	reset(database, which);
	return rc;
}

static int prepare(struct sl_database *database, const char *sql, sqlite3_stmt **statement)
{
	int code = sqlite3_prepare_v3(database->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
	return code == SQLITE_OK ? SL_OK : fail(database);
}

static int prepare_all(struct sl_database *database)
{
	int rc = SL_OK;
	for (int i = 0; i < SL_STATEMENT_COUNT && rc == SL_OK; i++)
		rc = prepare(database, statements[i], &database->statements[i]);
	return rc;
}

static int command(struct sl_database *database, const char *sql)
{
	return sqlite3_exec(database->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK ? SL_OK : fail(database);
}

/* Read the first column of the first row as text. */
static int ask(struct sl_database *database, const char *sql, char *text, size_t size)
{
	sqlite3_stmt *statement;
	int rc = prepare(database, sql, &statement);
	if (rc != SL_OK)
		return rc;
	if (sqlite3_step(statement) == SQLITE_ROW) {
		const unsigned char *found = sqlite3_column_text(statement, 0);
		sqlite3_snprintf((int)size, text, "%s", found == NULL ? (const unsigned char *)"" : found);
	} else {
		rc = fail(database);
	}
	sqlite3_finalize(statement);
	return rc;
}

/* ---- open ---- */

/* Keep the number of pages in the log, as a commit reports it. */
static int count_pages(void *context, sqlite3 *sqlite, const char *name, int pages)
{
	struct sl_database *database = context;
	(void)sqlite;
	(void)name;
	database->log_pages = pages;
	return SQLITE_OK;
}

/* Write the path as a URI; with `immutable`, SQLite makes no log beside the file. */
static void uri_of(const char *path, bool immutable, char uri[static 3 * SL_FOLDER_PATH_BYTES + 32])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
	char *at = uri + sprintf(uri, "file:");
	for (; *path != '\0'; path++)
		at += strchr(plain, *path) != NULL ? sprintf(at, "%c", *path)
						   : sprintf(at, "%%%02X", (unsigned char)*path);
	strcpy(at, immutable ? "?immutable=1" : "");
}

/* Return true if there is a log beside the database. */
static bool has_log(const struct sl_database *database)
{
	char path[SL_FOLDER_PATH_BYTES + sizeof SL_DATABASE_LOG];
	snprintf(path, sizeof path, "%s" SL_DATABASE_LOG, database->path);
	return access(path, F_OK) == 0;
}

/* Have detailed errors, and limit the length of values that a damaged file can claim. */
static void limit(struct sl_database *database)
{
	sqlite3_extended_result_codes(database->sqlite, 1);
	sqlite3_limit(database->sqlite, SQLITE_LIMIT_LENGTH, (int)VALUE_BYTES_MAX);
}

/* Open without locks inside SQLite: one thread at a time uses a store (store.h). The lock is exclusive from
 * the first read on: otherwise the index of the log would be a file. To look is to leave the log as it is. */
static int open_file(struct sl_database *database)
{
	char uri[3 * SL_FOLDER_PATH_BYTES + 32];
	assert(sqlite3_threadsafe() != 0);
	int flags = database->peek ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	uri_of(database->path, database->peek && !has_log(database), uri);
	int code = sqlite3_open_v2(uri, &database->sqlite, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI,
				   database->peek ? "unix-none" : NULL);
	if (code != SQLITE_OK)
		return fail(database);
	limit(database);
	if (database->peek)
		sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	else if (sqlite3_db_readonly(database->sqlite, "main") == 1) /* SQLite makes do with that */
		return fail_system(database, SQLITE_READONLY, MAY_WRITE);
	sqlite3_wal_hook(database->sqlite, count_pages, database); /* and SQLite empties no log by itself */
	return command(database, "PRAGMA locking_mode = EXCLUSIVE");
}

/* Read the number of the format; check the application id before anything is written into the file. */
static int check_header(struct sl_database *database, int *format)
{
	char application[16], found[16];
	int rc = ask(database, "PRAGMA application_id", application, sizeof application);
	if (rc == SL_OK)
		rc = ask(database, "PRAGMA user_version", found, sizeof found);
	if (rc != SL_OK)
		return rc;
	if (strcmp(application, TEXT(APPLICATION)) != 0)
		return sl_database_damaged(database, NULL, "not a learner's records");
	*format = atoi(found);
	if (*format > FORMAT)
		return sl_err_set(
			&database->error, SL_ERR_FORMAT,
			"%s: written by a later version of starlingd (format %d; this one has " TEXT(
				FORMAT) "); install that version again",
			database->path, *format);
	return SL_OK;
}

/* Check that the file has no other table, index, view or trigger. */
static int check_tables(struct sl_database *database)
{
	sqlite3_stmt *statement;
	size_t found = 0;
	int code, rc = prepare(database, "SELECT sql FROM sqlite_schema ORDER BY rowid", &statement);
	if (rc != SL_OK)
		return rc;
	bool same = true;
	while ((code = sqlite3_step(statement)) == SQLITE_ROW && same) {
		const char *sql = (const char *)sqlite3_column_text(statement, 0);
		same = sql != NULL && found < TABLES && strcmp(sql, tables[found++]) == 0;
	}
	if (code != SQLITE_DONE && code != SQLITE_ROW)
		rc = fail(database);
	else if (!same || found != TABLES)
		rc = sl_database_damaged(database, NULL, "its tables are not those of a learner");
	sqlite3_finalize(statement);
	return rc;
}

/* Have each commit synchronised, once, in the log. */
static int write_ahead(struct sl_database *database)
{
	char mode[16] = "";
	int rc = command(database, "PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON; "
				   "PRAGMA temp_store = MEMORY");
	if (rc == SL_OK) /* it answers with the new value: ask, not command */
		rc = ask(database, "PRAGMA journal_mode = WAL", mode, sizeof mode);
	if (rc == SL_OK && strcmp(mode, "wal") != 0)
		rc = sl_err_set(&database->error, SL_ERR_IO, "%s: its log cannot be kept", database->path);
	return rc;
}

static int check_pages(struct sl_database *database)
{
	char found[128] = "";
	int rc = ask(database, "PRAGMA integrity_check(1)", found, sizeof found);
	for (char *end = found; (end = strchr(end, '\n')) != NULL;)
		*end = ' '; /* one line of text */
	return rc == SL_OK && strcmp(found, "ok") != 0 ? sl_database_damaged(database, NULL, found) : rc;
}

/* ---- take over the records of an earlier format ---- */

/* Return the step that begins at `format`, or NULL. */
static const struct step *step_from(int format)
{
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
		if (steps[i].from == format)
			return &steps[i];
	return NULL;
}

static int refuse_step(struct sl_database *database, int format, const char *why)
{
	return sl_err_set(&database->error, SL_ERR_FORMAT,
			  "%s: written by an earlier version of starlingd (format %d; this one has " TEXT(
				  FORMAT) "), and %s",
			  database->path, format, why);
}

static int take_step(struct sl_database *database, int format)
{
	const struct step *step = step_from(format);
	char found[16], next[48];
	if (step == NULL)
		return refuse_step(database, format,
				   "no longer taken over: run that version, or name another state folder");
	int rc = ask(database, step->obstacles, found, sizeof found);
	if (rc == SL_OK && strcmp(found, "0") != 0)
		rc = refuse_step(database, format, step->why);
	if (rc == SL_OK)
		rc = command(database, step->sql);
	snprintf(next, sizeof next, "PRAGMA user_version = %d", format + 1);
	return rc == SL_OK ? command(database, next) : rc;
}

/* Replace the file, which is opened for reading only, by a copy in memory. */
static int copy_to_memory(struct sl_database *database)
{
	sqlite3 *file = database->sqlite;
	int code = sqlite3_open_v2(":memory:", &database->sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
				   NULL);
	sqlite3_backup *backup =
		code == SQLITE_OK ? sqlite3_backup_init(database->sqlite, "main", file, "main") : NULL;
	if (backup != NULL)
		sqlite3_backup_step(backup, -1);
	bool copied = backup != NULL && sqlite3_backup_finish(backup) == SQLITE_OK;
	sqlite3_close(file);
	if (!copied)
		return fail(database);
	limit(database);
	return SL_OK;
}

/* Take the records to the present format, step by step, in a transaction that sl_database_settle ends. */
static int migrate(struct sl_database *database, int format)
{
	int rc = database->peek ? copy_to_memory(database) : write_ahead(database);
	if (rc == SL_OK)
		rc = check_pages(database);
	if (rc == SL_OK)
		rc = command(database, "BEGIN IMMEDIATE");
	for (; rc == SL_OK && format < FORMAT; format++)
		rc = take_step(database, format);
	return rc;
}

int sl_database_settle(struct sl_database *database)
{
	return sqlite3_get_autocommit(database->sqlite) ? SL_OK : command(database, "COMMIT");
}

int sl_database_open(struct sl_database *database)
{
	int format = FORMAT, rc = open_file(database);
	if (rc == SL_OK)
		rc = check_header(database, &format);
	if (rc == SL_OK && format < FORMAT)
		rc = migrate(database, format);
	else if (rc == SL_OK && !database->peek)
		rc = write_ahead(database);
	if (rc == SL_OK)
		rc = check_tables(database);
	if (rc == SL_OK)
		rc = check_pages(database);
	if (rc == SL_OK)
		rc = prepare_all(database);
	return rc;
}

int sl_database_rest(struct sl_database *database, int pages)
{
	if (database->log_pages <= pages)
		return SL_OK;
	int code = sqlite3_wal_checkpoint_v2(database->sqlite, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	database->log_pages = 0;
	return code == SQLITE_OK ? SL_OK : fail(database);
}

void sl_database_close(struct sl_database *database)
{
	for (int i = 0; i < SL_STATEMENT_COUNT; i++) {
		sqlite3_finalize(database->statements[i]);
		database->statements[i] = NULL;
	}
	sqlite3_close(database->sqlite);
	database->sqlite = NULL;
}

/* ---- make ---- */

int sl_database_make(struct sl_database *database)
{
	int rc = open_file(database);
	if (rc == SL_OK)
		rc = command(database, "PRAGMA journal_mode = OFF; "
				       "PRAGMA synchronous = OFF; PRAGMA application_id = " TEXT(
					       APPLICATION) "; PRAGMA user_version = " TEXT(FORMAT));
	for (size_t i = 0; i < TABLES && rc == SL_OK; i++)
		rc = command(database, tables[i]);
	return rc == SL_OK ? prepare_all(database) : rc;
}
