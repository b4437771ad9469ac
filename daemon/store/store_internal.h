/* store_internal.h - the state of a store, for the files that implement store.h.
 *
 * A function that fails writes the text into store->error and returns the code. The functions of store.h
 * return both to the caller and end the store after a fatal error.
 */
#pragma once

#include <stdatomic.h>

#include "common/protocol/view_codec.h"
#include "daemon/store/database.h"
#include "daemon/store/folder.h"
#include "daemon/store/members.h"
#include "daemon/store/store.h"

/* Size of a Ready on disk: id, K, commitment, signature. */
#define SL_STORE_READY_BYTES (4u + 8u + SL_HASH_BYTES + SL_SIG_BYTES)
/* Size of the largest view: all learners, each linked to each. */
#define SL_STORE_VIEW_BYTES_MAX                                                                              \
	(sl_view_bytes(SL_LEARNERS_MAX, (size_t)SL_LEARNERS_MAX * (SL_LEARNERS_MAX - 1) / 2))

struct sl_store {
	char folder[SL_PATH_BYTES];
	char path[SL_STORE_PATH_BYTES]; /* of the database */
	int lock;			/* descriptor; -1: none */
	bool peek;			/* opened for reading only */
	sqlite3 *db;
	sqlite3_stmt *statements[SL_STATEMENT_COUNT];
	char run[SL_NAME_BYTES];
	uint8_t pin[SL_HASH_BYTES];	       /* of the identity that opened it */
	struct sl_store_roster mine, recorded; /* present roster; roster on record */
	uint32_t incarnation;
	uint32_t before;	    /* starts counted before the store was made */
	struct sl_store_round last; /* last committed; t 0: none */
	struct sl_error error;
	bool ended;	  /* set by a fatal error; `error` is then the answer to every call */
	atomic_flag used; /* held by a call that has not returned */
};

/* Begin and end a call of store.h. sl_store_enter returns the code of the error that ended the store;
 * sl_store_leave ends it for a fatal `rc` and copies the error. */
int sl_store_enter(struct sl_store *store);
int sl_store_leave(struct sl_store *store, int rc, struct sl_error *error);

/* Write the row of the learner with `roster` and `incarnation`. */
int sl_store_put_learner(struct sl_store *store, const struct sl_store_roster *roster, uint32_t incarnation);
/* Read the last round into store->last. */
int sl_store_read_last(struct sl_store *store);
/* Read every attempt and abort. A row whose round number is damaged would not be found, and not missed, by a
 * query. */
int sl_store_check_attempts(struct sl_store *store);
