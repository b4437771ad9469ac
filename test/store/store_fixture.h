/* store_fixture.h - records to keep, and what must come back. */
#pragma once

#include "daemon/store/store.h"
#include "test/lib/folder.h"

#define RUN "a run"
#define DATABASE "learner.db"

/* Ids 10, 20, 30, ..., each of them that much more; valid until the next. */
const struct sl_roster *made_roster(uint32_t size, sl_id shift);

/* The learner that every test is of; each call gives the same. */
struct sl_store_owner made_owner(void);

/* A round of which no two fields hold the same bytes; attempt 5. */
struct sl_store_round made_round(sl_round t);

/* Of a view of `count` learners: PREPARED with the Ready of the first, RELEASED with those of all, OVER with
 * as many Aborts; ABORTED without a Ready if `count` is 0. Valid until the next but three. */
#define MADE_GIVEN_UP (SL_PERSIST_COMMIT + 1) /* ABORTED of an open attempt: no Digest of it */
struct sl_persist made_persist(enum sl_persist_kind kind, sl_round t, sl_attempt a, uint32_t count);

/* What PREPARED costs. */
extern const struct sl_dp_round made_charge;
/* Records; a PREPARED with its charge. */
int record_made(struct sl_store *store, const struct sl_persist *persist, struct sl_error *error);

/* Opens or fails the test. */
struct sl_store *open_made(const char *folder);

/* Change the database by another program. */
void run_sql(const char *folder, const char *sql);

/* Opening gives the code; and, unless NULL, "folder/WHAT". */
void expect_open(const char *folder, int code, const char *what);

void expect_recorded(struct sl_store *store, enum sl_persist_kind kind, sl_round t, sl_attempt a,
		     uint32_t count);
void expect_committed(struct sl_store *store, sl_round t);
/* The last round is made_round(t) with a time of this decade; 0: none. */
void expect_last(struct sl_store *store, sl_round t);
/* "aborted 4, over 1 by 3 4 by 2, open 5 released by 7": of round t; "aborted 0, over, open 0" is nothing;
 * "over not again": one of them forbids the model. All else as made. */
void expect_promises(struct sl_store *store, sl_round t, const char *text);
