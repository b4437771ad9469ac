/* database.h - the SQLite file of a store and its prepared statements.
 *
 * Owns the connection and the statements. A function that fails writes the text into the database's `error`
 * and returns the code.
 */
#pragma once

#include <sqlite3.h>

#include "common/base/err.h"
#include "common/protocol/view_codec.h"
#include "daemon/store/folder.h"
#include "daemon/store/seal.h"

#define SL_DATABASE_FILE "learner.db"
/* After the database's path: the path of its write-ahead log. */
#define SL_DATABASE_LOG "-wal"

/* Size of a Ready on disk: id, K, the hashes of deposit, key, challenge and key shares, signature. */
#define SL_DATABASE_READY_BYTES (4u + 8u + 4u * SL_HASH_BYTES + SL_SIG_BYTES)
/* Size of an Abort on disk: id, incarnation, kind, key, hash of the Ready, signature. */
#define SL_DATABASE_ABORT_BYTES (3u * 4u + SL_KEY_BYTES + SL_HASH_BYTES + SL_SIG_BYTES)
/* Size of the sealed secrets of an attempt with as many neighbours as there can be. */
#define SL_DATABASE_SECRETS_BYTES_MAX                                                                        \
	(SL_SEAL_BYTES + 2u * SL_KEY_BYTES + SL_HASH_BYTES + 4u +                                            \
	 SL_LEARNERS_MAX * (4u + SL_KEY_SHARE_BYTES_MAX))
/* Size of the largest view: all learners, each linked to each. */
#define SL_DATABASE_VIEW_BYTES_MAX                                                                           \
	(sl_view_bytes(SL_LEARNERS_MAX, (size_t)SL_LEARNERS_MAX * (SL_LEARNERS_MAX - 1) / 2))

#define SL_ACCOUNT_COLUMNS "number, start, link, record, sum"
#define SL_ATTEMPT_COLUMNS "t, a, state, vote, h, view, ready, readys, secrets, sum"
#define SL_LEDGER_COLUMNS "t, a, incarnation, charges, guessed, spent, sum"
#define SL_OVER_COLUMNS "t, a, reuse, h, ready, aborts, sum"
#define SL_ROUND_COLUMNS                                                                                     \
	"t, a, view, digest, p, learners, total_weight, checkpoint, checkpoint_sum, result, result_sum, "    \
	"committed_at, sum"

/* All statements; prepared once. */
#define SL_STATEMENTS(X)                                                                                     \
	X(BEGIN, "BEGIN IMMEDIATE")                                                                          \
	X(COMMIT, "COMMIT")                                                                                  \
	X(ROLLBACK, "ROLLBACK")                                                                              \
	X(LEARNER, "SELECT run, pin, members, incarnation, sum FROM learner WHERE one = 1")                  \
	X(PUT_LEARNER,                                                                                       \
	  "REPLACE INTO learner (run, pin, members, incarnation, sum, one) VALUES (?,?,?,?,?,1)")            \
	X(ROUND, "SELECT " SL_ROUND_COLUMNS " FROM rounds WHERE t < ? ORDER BY t DESC LIMIT 1")              \
	X(ROUND_BACK, "SELECT " SL_ROUND_COLUMNS " FROM rounds ORDER BY t DESC LIMIT 1 OFFSET ?")            \
	X(PUT_ROUND, "REPLACE INTO rounds (" SL_ROUND_COLUMNS ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)")        \
	X(FORGET_ROUNDS,                                                                                     \
	  "DELETE FROM rounds WHERE t < (SELECT t FROM rounds ORDER BY t DESC LIMIT 1 OFFSET ?) "            \
	  "AND t IS NOT (SELECT t FROM ledger)")                                                             \
	X(ATTEMPTS, "SELECT " SL_ATTEMPT_COLUMNS " FROM attempts WHERE t = ? ORDER BY a")                    \
	X(ALL_ATTEMPTS, "SELECT " SL_ATTEMPT_COLUMNS " FROM attempts")                                       \
	X(PUT_ATTEMPT, "REPLACE INTO attempts (" SL_ATTEMPT_COLUMNS ") VALUES (?,?,?,?,?,?,?,?,?,?)")        \
	X(ANY_ATTEMPT, "SELECT t FROM attempts LIMIT 1")                                                     \
	X(END_ATTEMPT, "DELETE FROM attempts WHERE t = ? AND a = ?")                                         \
	X(FORGET_ATTEMPTS, "DELETE FROM attempts WHERE t <= ?")                                              \
	X(OVERS, "SELECT " SL_OVER_COLUMNS " FROM overs WHERE t = ? ORDER BY a")                             \
	X(ALL_OVERS, "SELECT " SL_OVER_COLUMNS " FROM overs")                                                \
	X(PUT_OVER, "INSERT INTO overs (" SL_OVER_COLUMNS ") VALUES (?,?,?,?,?,?,?)")                        \
	X(FORGET_OVERS, "DELETE FROM overs WHERE t <= ?")                                                    \
	X(ABORT, "SELECT t, a, sum FROM aborts WHERE t = ?")                                                 \
	X(ALL_ABORTS, "SELECT t, a, sum FROM aborts")                                                        \
	X(PUT_ABORT, "REPLACE INTO aborts (t, a, sum) VALUES (?,?,?)")                                       \
	X(FORGET_ABORTS, "DELETE FROM aborts WHERE t <= ?")                                                  \
	X(SEEN, "SELECT sums, sum FROM seen WHERE one = 1")                                                  \
	X(PUT_SEEN, "REPLACE INTO seen (sums, sum, one) VALUES (?,?,1)")                                     \
	X(LEDGER, "SELECT " SL_LEDGER_COLUMNS " FROM ledger WHERE one = 1")                                  \
	X(PUT_LEDGER, "REPLACE INTO ledger (" SL_LEDGER_COLUMNS ", one) VALUES (?,?,?,?,?,?,?,1)")           \
	X(ACCOUNT, "SELECT " SL_ACCOUNT_COLUMNS " FROM account WHERE number > ? ORDER BY number")            \
	X(PUT_ACCOUNT, "INSERT INTO account (" SL_ACCOUNT_COLUMNS ") VALUES (?,?,?,?,?)")                    \
	X(FORGET_ACCOUNT, "DELETE FROM account WHERE number <= ?")

enum sl_statement {
#define X(name, sql) SL_STATEMENT_##name,
	SL_STATEMENTS(X)
#undef X
		SL_STATEMENT_COUNT
};

struct sl_database {
	char path[SL_FOLDER_PATH_BYTES];
	bool peek;     /* opened for reading only, also beside a running learner */
	int log_pages; /* in the write-ahead log */
	sqlite3 *sqlite;
	sqlite3_stmt *statements[SL_STATEMENT_COUNT];
	struct sl_error error;
};

/* Open the empty file at `path` and make the tables, without a log or journal: the file is not durable before
 * it is closed and synchronised. */
int sl_database_make(struct sl_database *database);
/* Open the database at `path`, check all of it and prepare the statements. Records of an earlier format are
 * taken to the present one in a transaction, which sl_database_settle ends when the caller has checked the
 * rows: until then the file is as it was. With `peek` that is done with a copy in memory. */
int sl_database_open(struct sl_database *database);
int sl_database_settle(struct sl_database *database);
/* Empty the write-ahead log into the database, if it has more than `pages` pages. */
int sl_database_rest(struct sl_database *database, int pages);
/* Close the database, which need not be open. */
void sl_database_close(struct sl_database *database);

/* Bind the number `value` to parameter `at` of a statement. */
void sl_database_bind(struct sl_database *database, enum sl_statement which, int at, int64_t value);
/* Run a statement that returns no rows. */
int sl_database_run(struct sl_database *database, enum sl_statement which);
/* Call `each` for every row of a statement, until it returns another code than SL_OK. SL_ERR_NOTFOUND: there
 * was no row (without a text). */
int sl_database_each(struct sl_database *database, enum sl_statement which,
		     int (*each)(struct sl_database *database, enum sl_statement which, void *context),
		     void *context);

/* Report that `table` (NULL: the file) is not as it was written; return SL_ERR_FORMAT. */
int sl_database_damaged(struct sl_database *database, const char *table, const char *why);
/* Report that memory is short; return SL_ERR_NOMEM. */
int sl_database_no_memory(struct sl_database *database);
