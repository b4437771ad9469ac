/* store_internal.h - the inside of the store: its folder, its database, and rows that hold a hash of
 * themselves.
 *
 * What fails writes the text into store->error and returns the code; the functions of store.h hand both on,
 * and end the store where the code says so.
 */
#pragma once

#include <sodium.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "common/protocol/view_codec.h"
#include "common/config/settings.h"
#include "daemon/store/store.h"

#define SL_STORE_FILE "learner.db"
#define SL_STORE_PATH_BYTES (SL_PATH_BYTES + 32)

/* A Ready: id, K, commitment, signature. */
#define SL_STORE_READY_BYTES (4u + 8u + SL_HASH_BYTES + SL_SIG_BYTES)
/* A view of all learners, each linked to each. */
#define SL_STORE_VIEW_BYTES_MAX                                                                              \
	(sl_view_bytes(SL_LEARNERS_MAX, (size_t)SL_LEARNERS_MAX * (SL_LEARNERS_MAX - 1) / 2))

#define SL_ATTEMPT_COLUMNS "t, a, state, h, view, readys, sum"
#define SL_ROUND_COLUMNS                                                                                     \
	"t, a, view, digest, p, learners, total_weight, checkpoint, checkpoint_sum, result, result_sum, "    \
	"committed_at, sum"

/* All that is ever asked; prepared once. */
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
	X(ABORT, "SELECT t, a, sum FROM fences WHERE t = ?")                                                 \
	X(ALL_ABORTS, "SELECT t, a, sum FROM fences")                                                        \
	X(PUT_ABORT, "REPLACE INTO fences (t, a, sum) VALUES (?,?,?)")                                       \
	X(FORGET_ABORTS, "DELETE FROM fences WHERE t < ?")

enum sl_statement {
#define X(name, sql) SL_STATEMENT_##name,
	SL_STATEMENTS(X)
#undef X
		SL_STATEMENT_COUNT
};

/* Who was in a roster: "id pin" of each member, ascending. */
struct sl_store_member {
	sl_id id;
	uint8_t pin[SL_HASH_BYTES];
};

struct sl_store_roster {
	uint32_t size;
	struct sl_store_member *members; /* owned */
};

struct sl_store {
	char folder[SL_PATH_BYTES];
	char path[SL_STORE_PATH_BYTES]; /* of the database */
	int lock;			/* descriptor; -1: none */
	bool peek;			/* opened to look only: nothing is written */
	sqlite3 *db;
	sqlite3_stmt *statements[SL_STATEMENT_COUNT];
	char run[SL_NAME_BYTES];
	uint8_t pin[SL_HASH_BYTES];	       /* of who opened it */
	struct sl_store_roster mine, recorded; /* of who opened it; on record */
	uint32_t incarnation;
	uint32_t before;	    /* starts when the store was made */
	struct sl_store_round last; /* t 0: none */
	struct sl_error error;
	bool ended;	  /* error is for good */
	atomic_flag used; /* by a call that has not returned */
};

/* ---- store.c ---- */

/* Around each call: the code of an error that ended the store, and the end by one of those. */
int sl_store_enter(struct sl_store *store);
int sl_store_leave(struct sl_store *store, int rc, struct sl_error *error);

/* The row of the learner, which says less than the store knows. */
int sl_store_put_learner(struct sl_store *store, const struct sl_store_roster *roster, uint32_t incarnation);

/* ---- members.c ---- */

/* Both hand over the members; SL_ERR_NOMEM. */
int sl_store_roster_of(struct sl_store_roster *list, const struct sl_roster *roster);
int sl_store_roster_copy(struct sl_store_roster *list, const struct sl_store_roster *from);
void sl_store_roster_close(struct sl_store_roster *list);
/* What is wrong, or NULL. */
const char *sl_store_roster_flaw(const struct sl_store_roster *list);

/* ---- rounds.c ---- */

/* Reads the last round into store->last. */
int sl_store_read_last(struct sl_store *store);

/* ---- attempts.c ---- */

/* Reads every attempt and Abort: a row whose round is damaged would not be found, and not be missed, when it
 * is asked for. */
int sl_store_check_attempts(struct sl_store *store);

/* ---- folder.c: the files beside the database ---- */

void sl_store_path(const struct sl_store *store, const char *name, char path[static SL_STORE_PATH_BYTES]);
/* SL_ERR_IO with errno. */
int sl_store_fail_file(struct sl_store *store, const char *path);

/* Makes the folder and takes its lock: store->lock, or SL_ERR_BUSY. */
int sl_store_lock(struct sl_store *store);
/* state/incarnation: the count of starts that was kept there (0: none), or `moved`, when it says that there
 * is a store. */
int sl_store_read_count(struct sl_store *store, uint32_t *count, bool *moved);
/* Writes there that the count has moved, durably. */
int sl_store_move_count(struct sl_store *store);
/* Gives a file of the folder that is whole and closed its name, durably. */
int sl_store_name_file(struct sl_store *store, const char *from, const char *name);

/* ---- database.c ---- */

/* Fills the empty file at store->path with a database of the learner's row alone; nothing of it stays open.
 */
int sl_store_make(struct sl_store *store);
/* Opens the one at store->path, looks through it, prepares the statements. */
int sl_store_load(struct sl_store *store);
void sl_store_unload(struct sl_store *store);

/* Runs a statement that gives no rows. */
int sl_store_run(struct sl_store *store, enum sl_statement which);
/* The next row: SL_OK, or SL_ERR_NOTFOUND after the last (without a text). Until the reset it may be read. */
int sl_store_next(struct sl_store *store, enum sl_statement which);
void sl_store_reset(struct sl_store *store, enum sl_statement which);

/* Returns SL_ERR_FORMAT: the file is not as it was written. table may be NULL. */
int sl_store_damaged(struct sl_store *store, const char *table, const char *why);

/* ---- row.c ---- */

/* One row on its way in or out, column by column in the statement's order; the last column is the hash of the
 * others. */
struct sl_row {
	struct sl_store *store;
	enum sl_statement which;
	const char *table;
	int column;
	bool unbound;	   /* in: memory was short */
	const char *wrong; /* out: the first thing that is not as it was written */
	crypto_generichash_state hash;
};

struct sl_row sl_row_begin(struct sl_store *store, enum sl_statement which, const char *table);

/* In. What is bound must live until the row is written. */
void sl_row_put_number(struct sl_row *row, uint64_t number);
void sl_row_put_bytes(struct sl_row *row, const void *bytes, size_t size);
void sl_row_put_text(struct sl_row *row, const char *text);
/* Adds the hash and runs the statement. */
int sl_row_write(struct sl_row *row);

/* Out. Only after sl_row_end may the values be believed: SL_OK, or SL_ERR_FORMAT. */
uint64_t sl_row_number(struct sl_row *row, uint64_t max);
void sl_row_bytes(struct sl_row *row, uint8_t *bytes, size_t size);
void sl_row_text(struct sl_row *row, char *text, size_t size);
/* Up to `max` bytes, valid until the statement is reset; NULL when there are none. */
const void *sl_row_blob(struct sl_row *row, size_t max, size_t *size);
int sl_row_end(struct sl_row *row);
