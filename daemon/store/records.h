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

struct sl_store {
	struct sl_database database;
	char folder[SL_PATH_BYTES];
	int lock; /* descriptor; -1: none */
	char run[SL_NAME_BYTES];
	uint8_t pin[SL_HASH_BYTES];		/* of the identity that opened it */
	struct sl_store_roster present, read;	/* the roster now; the roster that was read */
	const struct sl_store_roster *recorded; /* the one of them that is on record */
	uint32_t incarnation;
	struct sl_store_round last; /* last committed; t 0: none */
	bool ended;		    /* set by a fatal error; its text is then the answer to every call */
	atomic_flag used;	    /* held by a call that has not returned */
};

/* Begin and end a call of store.h. sl_store_enter returns the code of the error that ended the store;
 * sl_store_leave ends it for a fatal `rc` and copies the error. */
int sl_store_enter(struct sl_store *store);
int sl_store_leave(struct sl_store *store, int rc, struct sl_error *error);

/* Read the last round into store->last. */
int sl_store_read_last(struct sl_store *store);
/* Read every attempt and abort: a query would not find a row whose round number is damaged. */
int sl_store_check_attempts(struct sl_store *store);
/* Write the row of the learner with the recorded roster and the incarnation. */
int sl_store_put_learner(struct sl_store *store);
