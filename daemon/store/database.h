/* database.h - the SQLite file of a store and its prepared statements.
 *
 * A function that fails writes the text into store->error and returns the code.
 */
#pragma once

#include <sqlite3.h>

#include "common/base/err.h"

struct sl_store;

#define SL_ATTEMPT_COLUMNS "t, a, state, h, view, readys, sum"
#define SL_ROUND_COLUMNS                                                                                     \
	"t, a, view, digest, p, learners, total_weight, checkpoint, checkpoint_sum, result, result_sum, "    \
	"committed_at, sum"

/* All statements; prepared once. */
#define SL_STATEMENTS(X)                                                                                     \
	X(BEGIN, "BEGIN IMMEDIATE")                                                                          \
	X(COMMIT, "COMMIT")                                                                                  \
	X(LEARNER, "SELECT run, pin, members, incarnation, before, sum FROM learner WHERE one = 1")          \
	X(PUT_LEARNER,                                                                                       \
	  "REPLACE INTO learner (run, pin, members, incarnation, before, sum, one) VALUES (?,?,?,?,?,?,1)")  \
	X(ROUND, "SELECT " SL_ROUND_COLUMNS " FROM rounds WHERE t < ? ORDER BY t DESC LIMIT 1")              \
	X(PUT_ROUND, "REPLACE INTO rounds (" SL_ROUND_COLUMNS ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)")        \
	X(ATTEMPT, "SELECT " SL_ATTEMPT_COLUMNS " FROM attempts WHERE t = ? AND a = ?")                      \
	X(ATTEMPTS, "SELECT " SL_ATTEMPT_COLUMNS " FROM attempts WHERE t = ? ORDER BY a")                    \
	X(ALL_ATTEMPTS, "SELECT " SL_ATTEMPT_COLUMNS " FROM attempts")                                       \
	X(PUT_ATTEMPT, "REPLACE INTO attempts (" SL_ATTEMPT_COLUMNS ") VALUES (?,?,?,?,?,?,?)")              \
	X(DROP_PREPARED, "DELETE FROM attempts WHERE t = ? AND a <= ? AND state = 2")                        \
	X(FORGET_ATTEMPTS, "DELETE FROM attempts WHERE t < ?")                                               \
	X(ABORT, "SELECT t, a, sum FROM aborts WHERE t = ?")                                                 \
	X(ALL_ABORTS, "SELECT t, a, sum FROM aborts")                                                        \
	X(PUT_ABORT, "REPLACE INTO aborts (t, a, sum) VALUES (?,?,?)")                                       \
	X(FORGET_ABORTS, "DELETE FROM aborts WHERE t < ?")

enum sl_statement {
#define X(name, sql) SL_STATEMENT_##name,
	SL_STATEMENTS(X)
#undef X
		SL_STATEMENT_COUNT
};

/* Fill the empty file at store->path with a database that holds the row of the learner; leave nothing open.
 */
int sl_store_make(struct sl_store *store);
/* Open the database at store->path, check all of it and prepare the statements. */
int sl_store_load(struct sl_store *store);
/* Close the database. */
void sl_store_unload(struct sl_store *store);

/* Run a statement that returns no rows. */
int sl_store_run(struct sl_store *store, enum sl_statement which);
/* Step to the next row: SL_OK, or SL_ERR_NOTFOUND after the last one (without a text). The row can be read
 * until sl_store_reset. */
int sl_store_next(struct sl_store *store, enum sl_statement which);
void sl_store_reset(struct sl_store *store, enum sl_statement which);

/* Report that `table` (NULL: the file) is not as it was written; return SL_ERR_FORMAT. */
int sl_store_damaged(struct sl_store *store, const char *table, const char *why);
