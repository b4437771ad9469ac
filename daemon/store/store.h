/* store.h - what one learner must not forget, durably, in state/learner.db: its starts, its rounds, its
 * attempts.
 *
 *   learner    one row: run, pin of the identity, roster that committed last, incarnation
 *   rounds     a row for each committed round; written after its files. Files without a row are ignored
 *   attempts   a row for each attempt that was prepared or released: view and Readys (PROTOCOL.md
 *              §14 Durability and restart); kept until a later round commits
 *   fences     a row for each round with aborted attempts: the highest one; kept as long
 *
 * SQLite with a rollback journal and synchronous=FULL: what a call returned SL_OK for is there after a crash
 * or a loss of power, whole; what it did not is there whole or not at all. Vectors are files, whose checksum
 * a row holds. Every row holds a hash of itself, and the file is looked through when it is opened: damage is
 * met before it is believed.
 *
 * A store owns state/lock, learner.db with its journal, and state/incarnation: a learner's count of starts
 * before there was a store is taken over, and from then on the file says where the count is. Whoever can read
 * only the older layout refuses it, and a learner.db that is gone is missed.
 *
 * A disk that is full or fails, or a damaged file, ends a store: the same error is returned from then on,
 * nothing is tried again, and nothing recorded before is lost by it. The text names the file and what to do:
 *   SL_ERR_IO        the disk is full, failed, or does not let this user write
 *   SL_ERR_FORMAT    damaged, or not a learner's records
 *   SL_ERR_NOMEM     out of memory
 * SL_ERR_INVALID (a record that could not be read back) and SL_ERR_REFUSED (one that contradicts another)
 * change nothing.
 *
 * Threads: one at a time. The loop's thread opens and closes it; between, while the compute worker runs, that
 * worker alone calls it (its queue and its join hand the store over). Two at once is an assertion.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"
#include "common/core/core.h"
#include "common/config/roster.h"
#include "common/model/safetensors.h"

struct sl_store;

/* Whose records they are. */
struct sl_store_owner {
	const char *run;		/* shorter than SL_NAME_BYTES */
	uint8_t pin[SL_HASH_BYTES];	/* of the identity */
	const struct sl_roster *roster; /* not needed after sl_store_open */
};

struct sl_store_round {
	sl_round t;
	sl_attempt a;
	uint8_t view[SL_HASH_BYTES];   /* h */
	uint8_t digest[SL_HASH_BYTES]; /* D */
	uint64_t p;
	uint32_t learners;						 /* N of the view */
	uint64_t total_weight;						 /* Z_n */
	char checkpoint[SL_FILE_NAME_BYTES], result[SL_FILE_NAME_BYTES]; /* names in the state folder */
	uint8_t checkpoint_sum[SL_HASH_BYTES], result_sum[SL_HASH_BYTES];
	int64_t committed_at; /* unix seconds, for people; set by sl_store_commit_round */
};

/* The moves that an attempt may make; one that is there may be recorded again.
 *
 *      nothing ----> PREPARED ----> RELEASED ----> CLOSED    nobody can complete it, or the operator has
 * given it up
 *                       |
 *                       v
 *      nothing -----> aborted, with all before it           given up, never released; as a number of the
 * round
 *
 * One of a round is open, prepared or released, at a time (PROTOCOL.md §9.4 Safety rule).
 */
enum sl_attempt_state {
	SL_ATTEMPT_PREPARED = SL_PERSIST_PREPARED, /* before the own Ready leaves */
	SL_ATTEMPT_RELEASED = SL_PERSIST_RELEASED, /* before the first masked state leaves */
	SL_ATTEMPT_CLOSED = SL_PERSIST_CLOSED,
};

/* What this learner is bound by in a round that is not committed; as the core wants it at a start. */
struct sl_promises {
	sl_attempt aborted; /* the highest that was given up; 0: none */
	sl_attempt closed;  /* the highest that is dead; 0: none */
	uint32_t released_count;
	sl_attempt released[SL_RELEASED_MAX]; /* released or dead, ascending */
	sl_attempt a;			      /* the open one; 0: none */
	struct sl_open open;
	uint8_t *view; /* what `open` points to; owned */
	struct sl_ready *readys;
};

/* Makes the folder (0700) and the store if there is none, and counts this start, durably. *store is NULL
 * unless SL_OK. SL_ERR_BUSY names the process that holds it; SL_ERR_REFUSED: the records of another run or
 * identity; SL_ERR_NOTFOUND: the folder has had a store, which is gone; SL_ERR_RANGE: the path or the run's
 * name is too long. */
int sl_store_open(struct sl_store **store, const char *folder, const struct sl_store_owner *owner,
		  struct sl_error *error);
/* Open the store to look at its records, also beside a running learner: nothing is made, locked, counted or
 * written. Only sl_store_last_round, sl_store_round_before and sl_store_roster_changes may follow. *store is
 * NULL also if there is no store yet. */
int sl_store_peek(struct sl_store **store, const char *folder, const struct sl_store_owner *owner,
		  struct sl_error *error);
/* NULL may be closed. */
void sl_store_close(struct sl_store *store);

/* Starts of this learner, this one included: 1 or more, never the same twice. */
uint32_t sl_store_incarnation(const struct sl_store *store);
/* Members that came, went or show another key since the last commit (before that: since the store was made);
 * the ids of the first of them, ascending. 0: the same roster. */
#define SL_STORE_CHANGES_NAMED 4u
uint32_t sl_store_roster_changes(const struct sl_store *store, sl_id ids[static SL_STORE_CHANGES_NAMED]);
/* Whether the learner had started before there was a store: checkpoints without a row may be from that time.
 */
bool sl_store_taken_over(const struct sl_store *store);

/* Records a round later than the last, whose files are durable by now; in the same transaction the attempts
 * of rounds before it are forgotten (its own stay: who has not finished it may ask). One that is on record is
 * recorded again with the files of now (its model had to be shown by others); SL_ERR_REFUSED for another
 * result of it, or an earlier round that is not. */
int sl_store_commit_round(struct sl_store *store, const struct sl_store_round *round, struct sl_error *error);
/* Of a committed view, with the names of its files and without their checksums. */
void sl_store_round_fill(struct sl_store_round *round, const struct sl_certificate *certificate,
			 uint64_t total_weight);
/* SL_ERR_NOTFOUND before the first commit. */
int sl_store_last_round(struct sl_store *store, struct sl_store_round *round, struct sl_error *error);
/* The last one before round t; SL_ERR_NOTFOUND when there is none. */
int sl_store_round_before(struct sl_store *store, sl_round t, struct sl_store_round *round,
			  struct sl_error *error);

/* ABORTED, PREPARED, RELEASED or CLOSED. SL_ERR_REFUSED for a move that the diagram does not have, or a round
 * that is committed: then nothing may leave that rests on it. */
int sl_store_record(struct sl_store *store, const struct sl_persist *persist, struct sl_error *error);
/* Of round t; to be closed. An empty one may be closed. */
int sl_store_promises(struct sl_store *store, sl_round t, struct sl_promises *promises,
		      struct sl_error *error);
void sl_store_promises_close(struct sl_promises *promises);
