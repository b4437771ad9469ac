/* store.h - the durable records of one learner in state/learner.db: starts, rounds, attempts
 * (ROUND.md §14.1 What is durable before what is sent, §9.3 Rule A).
 *
 *   learner    one row: run, pin of the identity, roster of the last commit, incarnation
 *   rounds     a row for each of the last committed rounds; its files are written first, a file without a row
 *              is ignored
 *   attempts   the open attempt of a round: view, Readys, secrets, vote; until it is over or committed
 *   overs      attempts that are over: the own Ready and the Aborts, until the round is committed
 *   aborts     of each round the last attempt aborted without a Ready, until the round is committed
 *   seen       one row: the last sums that were seen, with OVER and with each round
 *   ledger     one row: what is spent of the privacy (ledger.h), with PREPARED
 *   account    the newest records of the file `account`, with each round (account.c)
 *
 * The secrets of an attempt are sealed under a key that is overwritten when the attempt ends (seal.h).
 *
 * SQLite writes ahead (WAL) with synchronous=FULL: one synchronisation to a call that records. A call that
 * returned SL_OK survives a crash or a loss of power; an interrupted call survives completely or not at all.
 * Vectors are files; a row holds their checksum. Every row holds a hash of itself, and the whole file is
 * checked when it is opened.
 *
 * A store owns state/lock, learner.db with its log learner.db-wal, attempt.key, account, and has-records,
 * which shows that the folder has had a learner.db, and names its own inode. A copy of the records is a copy
 * of all of them.
 *
 * A full or failing disk or a damaged file ends a store: every later call returns the same error, nothing is
 * retried, and earlier records are kept. The text names the file and the remedy:
 *   SL_ERR_IO        the disk is full, failed, or does not let this user write
 *   SL_ERR_FORMAT    damaged, or not the records of a learner
 *   SL_ERR_NOMEM     out of memory
 * SL_ERR_INVALID (a record that could not be read back) and SL_ERR_REFUSED (a record that contradicts another
 * one) change nothing.
 *
 * Threads: one at a time. The loop thread opens and closes the store; while the compute worker runs, only
 * that worker calls it. A concurrent call is an assertion failure.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"
#include "common/config/roster.h"
#include "common/core/core.h"
#include "common/model/checkpoint.h"
#include "common/model/safetensors.h"
#include "daemon/store/ledger.h"
#include "daemon/store/seal.h"

struct sl_store;

/* Owner of the records. */
struct sl_store_owner {
	const char *run;		/* shorter than SL_NAME_BYTES */
	uint8_t pin[SL_HASH_BYTES];	/* of the identity */
	const struct sl_roster *roster; /* not needed after sl_store_open */
};

/* What the account of the rounds says of a committed round (ROUND.md §14.6 The account of the rounds). */
struct sl_account_entry {
	const uint8_t *bytes;
	size_t size;
	const uint8_t *sign_key; /* of the identity */
};

struct sl_store_round {
	sl_round t;
	sl_attempt a;
	uint8_t view[SL_HASH_BYTES];   /* h */
	uint8_t digest[SL_HASH_BYTES]; /* D */
	uint8_t roster[SL_HASH_BYTES]; /* of the participants; not on record */
	const struct sl_seen *seen;    /* sums that were seen with it, to be recorded; NULL: as before */
	const struct sl_account_entry
		*account; /* what the account says of it, to be recorded; NULL: nothing */
	uint64_t p;
	uint32_t learners;						 /* N of the view */
	uint64_t total_weight;						 /* Z_n */
	char checkpoint[SL_FILE_NAME_BYTES], result[SL_FILE_NAME_BYTES]; /* names in the state folder */
	uint8_t checkpoint_sum[SL_HASH_BYTES], result_sum[SL_HASH_BYTES];
	int64_t committed_at; /* unix seconds, informative; set by sl_store_commit_round */
};

/* The moves of an attempt; a repeated record is accepted.
 *
 *   (none) ----> PREPARED ----> RELEASED ----> over
 *                  |  |                         ^
 *                  |  +-------------------------+
 *                  v                            |
 *               ABORTED, bound -----------------+
 *
 *   any of the three --SIGNS or ABORTED, no Digest--> the same, with that vote (enum sl_vote), and no other
 *
 *   (none) ----> aborted without a Ready, with all earlier ones: one number per round
 *
 * At most one attempt of a round is open (enum sl_open_state; ROUND.md §9.3 Rule A).
 */

/* The records of a round that is not committed, for the start of the core. */
struct sl_promises {
	sl_attempt aborted; /* highest attempt that is aborted without a Ready, or over; 0: none */
	bool reuse;	    /* every attempt that is over left the model fit for another */
	uint32_t over_count;
	struct sl_over *over; /* ascending; with their Aborts owned, as is the memory of `open` */
	struct sl_seen *seen; /* sums that were seen; NULL: none is on record. Owned */
	sl_attempt a;	      /* open attempt; 0: none */
	struct sl_open open;
	uint8_t *view;
	struct sl_ready *readys;
	uint8_t *sealed; /* secrets of the open attempt as they are on record */
	size_t sealed_bytes;
	struct sl_secrets secrets; /* wiped when the promises are closed; shares NULL: their key is not in
				      attempt.key (sl_store_open_secrets) */
};

/* Make the folder (0700) and the store if there is none, and count this start, durably. *store is NULL
 * unless SL_OK. SL_ERR_BUSY names the process that holds it; SL_ERR_REFUSED: the records of another run or
 * identity; SL_ERR_NOTFOUND: the folder has had a store, which is gone; SL_ERR_RANGE: the path or the run's
 * name is too long. */
int sl_store_open(struct sl_store **store, const char *folder, const struct sl_store_owner *owner,
		  struct sl_error *error);
/* Open the store to look at its records, also beside a running learner: nothing is made, locked, counted or
 * written. Only the functions that read rounds and sl_store_roster_changes may follow. *store is
 * NULL also if there is no store yet. */
int sl_store_peek(struct sl_store **store, const char *folder, const struct sl_store_owner *owner,
		  struct sl_error *error);
/* Close the store; NULL has no effect. Without open attempt the state file, which the caller has closed, is
 * removed. */
void sl_store_close(struct sl_store *store);
/* Return true if the folder of the open store was deleted. Any thread may ask at any time. */
bool sl_store_deleted(const struct sl_store *store);

/* Return the incarnation: the number of starts of this learner, this one included. */
uint32_t sl_store_incarnation(const struct sl_store *store);
/* Members that came, went or show another key since the last commit (before that: since the store was made);
 * the ids of the first of them, ascending. 0: the same roster. */
#define SL_STORE_CHANGES_NAMED 4u
uint32_t sl_store_roster_changes(const struct sl_store *store, sl_id ids[static SL_STORE_CHANGES_NAMED]);
/* The newest rounds stay on record, and that of the last charge (ledger.h). More than keep_checkpoints
 * allows.
 */
#define SL_STORE_ROUNDS 1024
/* Record a round later than the last, whose files are durable; in the same transaction remove rounds that are
 * too many and the attempts of all rounds up to it, and record the present roster, if the round is of it, as
 * that of the last commit. A round on record is recorded again with its present files, after its model was
 * fetched from peers. SL_ERR_REFUSED: another result of a recorded round, or an earlier round that is not on
 * record. */
int sl_store_commit_round(struct sl_store *store, const struct sl_store_round *round, struct sl_error *error);
/* Fill `round` from a certificate, with the names of the files and without their checksums. */
void sl_store_round_fill(struct sl_store_round *round, const struct sl_certificate *certificate,
			 uint64_t total_weight);
/* Fill `checkpoint`, except its checksum, for the model of n elements of `round`. */
void sl_store_round_checkpoint(const struct sl_store_round *round, const char *run, uint64_t n,
			       struct sl_checkpoint *checkpoint);
/* Read the last committed round; SL_ERR_NOTFOUND before the first commit. */
int sl_store_last_round(struct sl_store *store, struct sl_store_round *round, struct sl_error *error);
/* Read the round `back` rounds before the last one on record (rounds that were skipped do not count);
 * SL_ERR_NOTFOUND: there is none. */
int sl_store_round_back(struct sl_store *store, uint32_t back, struct sl_store_round *round);
/* Read the last committed round before `t`; SL_ERR_NOTFOUND: there is none. */
int sl_store_round_before(struct sl_store *store, sl_round t, struct sl_store_round *round,
			  struct sl_error *error);

/* Record ABORTED, PREPARED, RELEASED, SIGNS or OVER. SL_ERR_REFUSED: the diagram does not
 * have this move, or the round is committed; nothing that depends on the record may then be sent. */
int sl_store_record(struct sl_store *store, const struct sl_persist *persist, struct sl_error *error);
/* Record a PREPARED and, unless `charge` is NULL, charge its attempt to the ledger in the same transaction: a
 * round like `charge`. A repeated record is charged once. */
int sl_store_prepare(struct sl_store *store, const struct sl_persist *persist,
		     const struct sl_dp_round *charge, struct sl_error *error);
/* Return the ledger as it is on record, valid until the next call that records. */
const struct sl_ledger *sl_store_ledger(const struct sl_store *store);
/* Give the key that seals, or will seal, the secrets of the open attempt. The caller makes a copy durable
 * at the front of the state file before it records PREPARED. The store erases both copies. */
int sl_store_key(struct sl_store *store, uint8_t key[static SL_SEAL_KEY_BYTES], struct sl_error *error);
/* Read the attempts of round `t`; close them with sl_store_promises_close, which also takes zeroed ones. */
int sl_store_promises(struct sl_store *store, sl_round t, struct sl_promises *promises,
		      struct sl_error *error);
/* Open the secrets of `promises` with the caller's copy of the key, unless they are open. SL_ERR_FORMAT: that
 * is another key. */
int sl_store_open_secrets(struct sl_store *store, struct sl_promises *promises,
			  const uint8_t key[static SL_SEAL_KEY_BYTES], struct sl_error *error);
void sl_store_promises_close(struct sl_promises *promises);
/* Copy the records into learner.db of `folder`, durably, without those of attempts, and mark the folder as
 * one that has had records. SL_ERR_REFUSED: the copy cannot be made. */
int sl_store_backup(struct sl_store *store, const char *folder, struct sl_error *error);
/* Empty the database's log if it has more than `pages` pages, at a moment at which no peer waits for this
 * learner: that synchronises three times. */
#define SL_STORE_LOG_PAGES 1024 /* 4 MiB, some fifty rounds of ten learners */
int sl_store_rest(struct sl_store *store, int pages, struct sl_error *error);
