/* records.h - the state of a store, for the files that implement store.h.
 *
 * A function that fails writes the text into store->database.error and returns the code. The functions of
 * store.h return both to the caller and end the store after a fatal error.
 */
#pragma once

#include <stdatomic.h>

#include "daemon/store/database.h"
#include "daemon/store/members.h"
#include "daemon/store/store.h"

/* Size of the largest record: of as many participants as there can be, all of which have signed. */
#define SL_ACCOUNT_RECORD_BYTES_MAX (1024u + SL_LEARNERS_MAX * (3u * 4u + SL_KEY_BYTES + SL_SIG_BYTES))

/* The file of the account. */
struct sl_account {
	int file;		     /* descriptor; -1: not open */
	uint64_t number;	     /* of the newest record; 0: none */
	uint64_t end;		     /* bytes up to its end */
	uint64_t synchronised;	     /* newest record that is durable in the file */
	uint8_t link[SL_HASH_BYTES]; /* of the newest record */
};

struct sl_store {
	struct sl_database database;
	struct sl_seal seal;
	char folder[SL_PATH_BYTES];
	int lock; /* descriptor; -1: none */
	char run[SL_NAME_BYTES];
	uint8_t pin[SL_HASH_BYTES];		/* of the identity that opened it */
	struct sl_store_roster present, read;	/* the roster now; the roster that was read */
	const struct sl_store_roster *recorded; /* the one of them that is on record */
	uint32_t incarnation;
	struct sl_store_round last; /* last committed; t 0: none */
	struct sl_ledger ledger;    /* as it is on record */
	struct sl_account account;
	bool ended;	  /* set by a fatal error; its text is then the answer to every call */
	atomic_flag used; /* held by a call that has not returned */
};

/* Begin and end a call of store.h. sl_store_enter returns the code of the error that ended the store;
 * sl_store_leave ends it for a fatal `rc` and copies the error. */
int sl_store_enter(struct sl_store *store);
int sl_store_leave(struct sl_store *store, int rc, struct sl_error *error);

/* Read the last round into store->last. */
int sl_store_read_last(struct sl_store *store);
/* Read every attempt, abort and over: a query would not find a row whose round number is damaged. */
int sl_store_check_attempts(struct sl_store *store);
/* Erase the key of the secrets if no attempt is open. discard: synchronise that, and remove the state file.
 */
int sl_store_erase_key(struct sl_store *store, bool discard);
int sl_store_check_overs(struct sl_store *store);
/* Find the last attempt of round `t` that is over; *a is 0: none. */
int sl_store_last_over(struct sl_store *store, sl_round t, sl_attempt *a);
/* Write the row of an OVER record, within a transaction. ready: the own Ready as in the attempt's row.
 * SL_ERR_INVALID. */
int sl_store_put_over(struct sl_store *store, const struct sl_persist *persist,
		      const uint8_t h[static SL_HASH_BYTES], const uint8_t *ready);
/* Read the attempts of round `t` that are over. */
int sl_store_read_overs(struct sl_store *store, sl_round t, struct sl_promises *promises);
/* Write a Ready to, and read it from SL_DATABASE_READY_BYTES; t, a and view are those of its row. */
void sl_store_pack_ready(struct sl_writer *writer, const struct sl_ready *ready);
void sl_store_unpack_ready(const uint8_t *bytes, sl_round t, sl_attempt a,
			   const uint8_t h[static SL_HASH_BYTES], struct sl_ready *ready);
/* Write the row of the sums that were seen. */
int sl_store_put_seen(struct sl_store *store, const struct sl_seen *seen);
/* Read them into new memory; *seen stays as it is if there is no row. */
int sl_store_read_seen(struct sl_store *store, struct sl_seen **seen);
/* Write the row of the ledger, within a transaction. */
int sl_store_put_ledger(struct sl_store *store, const struct sl_ledger *ledger);
/* Read it into store->ledger. */
int sl_store_read_ledger(struct sl_store *store);
/* Look whether the round of its last charge is on record with that attempt. */
int sl_store_settle_ledger(struct sl_store *store);
/* Write the next record of the account, with `entry`, as a row, within a transaction. */
int sl_store_account_put(struct sl_store *store, const struct sl_account_entry *entry);
/* Write the records of the rows that are later than account.number into their places in the file. */
int sl_store_account_write(struct sl_store *store);
/* Synchronise the file, so that the next commit removes the rows that it has. */
int sl_store_account_sync(struct sl_store *store);
/* Write all of them, and let the file end with the last one. */
int sl_store_account_open(struct sl_store *store);
/* Write the row of the learner with the recorded roster and the incarnation. */
int sl_store_put_learner(struct sl_store *store);
/* Read it. SL_ERR_REFUSED: the records are of another run or identity. */
int sl_store_check_learner(struct sl_store *store);
/* Count this start durably, before anything is signed with the incarnation. */
int sl_store_count_start(struct sl_store *store);
