/* attempts.c - the open attempt of a round and the moves that end it. */
#include "daemon/store/records.h"
#include "daemon/store/row.h"
#include "daemon/store/secret_bytes.h"

#include <assert.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"

#define LOG_PAGES_MAX (4 * SL_STORE_LOG_PAGES) /* of attempts that do not end in a commit */

static const char *const names[] = {
	[SL_PERSIST_ABORTED] = "aborted",   [SL_PERSIST_PREPARED] = "prepared",
	[SL_PERSIST_RELEASED] = "released", [SL_PERSIST_SIGNS] = "signed",
	[SL_PERSIST_OVER] = "over",
};

/* A row; its bytes belong to SQLite and are valid until the statement is reset. */
struct attempt {
	sl_round t;
	sl_attempt a;
	enum sl_open_state state; /* 0: none */
	enum sl_vote vote;
	uint8_t h[SL_HASH_BYTES], ready[SL_DATABASE_READY_BYTES]; /* ready: the own */
	const uint8_t *view, *readys, *secrets;			  /* secrets: sealed (seal.h) */
	size_t view_bytes, ready_bytes, secret_bytes;
};

/* Return true if the Readys belong to the attempt and to one view. */
static bool of_one_view(const struct sl_persist *persist)
{
	for (uint32_t i = 0; i < persist->ready_count; i++) {
		const struct sl_ready *ready = &persist->readys[i];
		if (ready->t != persist->what.t || ready->a != persist->what.a ||
		    memcmp(ready->view, persist->readys[0].view, SL_HASH_BYTES) != 0)
			return false;
	}
	return persist->ready_count > 0;
}

/* Return the Readys of a row; the caller frees them. */
static uint8_t *pack_readys(const struct sl_persist *persist)
{
	size_t size = persist->ready_count * SL_DATABASE_READY_BYTES;
	struct sl_writer writer = {.bytes = malloc(size), .size = size};
	for (uint32_t i = 0; i < persist->ready_count && writer.bytes != NULL; i++)
		sl_store_pack_ready(&writer, &persist->readys[i]);
	return writer.bytes;
}

/* ---- rows ---- */

/* Return the reason why a row is invalid, or NULL; checked before writing and after reading. */
static const char *flaw_of(const struct attempt *attempt)
{
	if (attempt->t < 1 || attempt->t > SL_ROUNDS_MAX)
		return "round out of range";
	if (attempt->a < 1 || attempt->a > SL_ATTEMPTS_MAX)
		return "attempt out of range";
	if (attempt->state < SL_OPEN_PREPARED || attempt->state > SL_OPEN_ABORTED)
		return "unknown state";
	if (attempt->view == NULL || attempt->view_bytes < 1 ||
	    attempt->view_bytes > SL_DATABASE_VIEW_BYTES_MAX)
		return "the view is too long, or none";
	size_t count = attempt->ready_bytes / SL_DATABASE_READY_BYTES;
	if (attempt->readys == NULL || attempt->ready_bytes % SL_DATABASE_READY_BYTES != 0 ||
	    count > SL_LEARNERS_MAX)
		return "the Readys are not a list";
	if (attempt->state == SL_OPEN_RELEASED ? count < 2 : count != 1)
		return "the Readys are too few or too many";
	return attempt->secrets != NULL && attempt->secret_bytes >= SL_SEAL_BYTES + SL_SECRET_BYTES_HEAD
		       ? NULL
		       : "the secrets are not those of an attempt";
}

static int write_attempt(struct sl_store *store, const struct attempt *attempt)
{
	struct sl_row row = sl_row_begin(&store->database, SL_STATEMENT_PUT_ATTEMPT, "attempts");
	sl_row_put_number(&row, attempt->t);
	sl_row_put_number(&row, attempt->a);
	sl_row_put_number(&row, (uint64_t)attempt->state);
	sl_row_put_number(&row, (uint64_t)attempt->vote);
	sl_row_put_bytes(&row, attempt->h, SL_HASH_BYTES);
	sl_row_put_bytes(&row, attempt->view, attempt->view_bytes);
	sl_row_put_bytes(&row, attempt->ready, SL_DATABASE_READY_BYTES);
	sl_row_put_bytes(&row, attempt->readys, attempt->ready_bytes);
	sl_row_put_bytes(&row, attempt->secrets, attempt->secret_bytes);
	return sl_row_write(&row);
}

static int read_attempt(struct sl_database *database, enum sl_statement which, struct attempt *attempt)
{
	struct sl_row row = sl_row_begin(database, which, "attempts");
	attempt->t = (sl_round)sl_row_number(&row, UINT32_MAX);
	attempt->a = (sl_attempt)sl_row_number(&row, UINT32_MAX);
	attempt->state = (enum sl_open_state)sl_row_number(&row, SL_OPEN_ABORTED);
	attempt->vote = (enum sl_vote)sl_row_number(&row, SL_VOTE_ABORT);
	sl_row_bytes(&row, attempt->h, SL_HASH_BYTES);
	attempt->view = sl_row_blob(&row, SL_DATABASE_VIEW_BYTES_MAX, &attempt->view_bytes);
	sl_row_bytes(&row, attempt->ready, SL_DATABASE_READY_BYTES);
	attempt->readys = sl_row_blob(&row, SL_LEARNERS_MAX * SL_DATABASE_READY_BYTES, &attempt->ready_bytes);
	attempt->secrets = sl_row_blob(&row, SL_DATABASE_SECRETS_BYTES_MAX, &attempt->secret_bytes);
	int rc = sl_row_end(&row);
	const char *flaw = rc == SL_OK ? flaw_of(attempt) : NULL;
	return flaw == NULL ? rc : sl_database_damaged(database, "attempts", flaw);
}

static int write_abort(struct sl_store *store, sl_round t, sl_attempt a)
{
	struct sl_row row = sl_row_begin(&store->database, SL_STATEMENT_PUT_ABORT, "aborts");
	sl_row_put_number(&row, t);
	sl_row_put_number(&row, a);
	return sl_row_write(&row);
}

/* Read the attempt of an abort into *context. */
static int read_abort(struct sl_database *database, enum sl_statement which, void *context)
{
	sl_attempt *a = context;
	struct sl_row row = sl_row_begin(database, which, "aborts");
	sl_round t = (sl_round)sl_row_number(&row, UINT32_MAX);
	*a = (sl_attempt)sl_row_number(&row, UINT32_MAX);
	int rc = sl_row_end(&row);
	if (rc == SL_OK && (t < 1 || t > SL_ROUNDS_MAX || *a < 1 || *a > SL_ATTEMPTS_MAX))
		return sl_database_damaged(database, "aborts", "round or attempt out of range");
	return rc;
}

/* Read the last attempt of round t that was aborted without a Ready into *a; 0: none. */
static int find_abort(struct sl_store *store, sl_round t, sl_attempt *a)
{
	*a = 0;
	sl_database_bind(&store->database, SL_STATEMENT_ABORT, 1, t);
	int rc = sl_database_each(&store->database, SL_STATEMENT_ABORT, read_abort, a);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}

/* ---- the record of a round ---- */

struct standing {
	struct attempt open;		  /* the open attempt; state 0: none. Its bytes are owned copies */
	uint8_t *view, *readys, *secrets; /* they */
	sl_attempt aborted, over;
};

static uint8_t *copy(const uint8_t *bytes, size_t size)
{
	uint8_t *to = malloc(size);
	if (to != NULL)
		memcpy(to, bytes, size);
	return to;
}

static void standing_close(struct standing *standing)
{
	free(standing->view);
	free(standing->readys);
	free(standing->secrets);
}

static int look_at(struct sl_database *database, enum sl_statement which, void *context)
{
	struct standing *s = context;
	struct attempt attempt;
	int rc = read_attempt(database, which, &attempt);
	if (rc != SL_OK)
		return rc;
	if (s->open.state != 0)
		return sl_database_damaged(database, "attempts", "more than one of a round is open");
	s->open = attempt;
	s->open.view = s->view = copy(attempt.view, attempt.view_bytes);
	s->open.readys = s->readys = copy(attempt.readys, attempt.ready_bytes);
	s->open.secrets = s->secrets = copy(attempt.secrets, attempt.secret_bytes);
	return s->view == NULL || s->readys == NULL || s->secrets == NULL ? sl_database_no_memory(database)
									  : SL_OK;
}

static int look(struct sl_store *store, sl_round t, struct standing *standing)
{
	*standing = (struct standing){.aborted = 0};
	sl_database_bind(&store->database, SL_STATEMENT_ATTEMPTS, 1, t);
	int rc = sl_database_each(&store->database, SL_STATEMENT_ATTEMPTS, look_at, standing);
	if (rc == SL_OK || rc == SL_ERR_NOTFOUND)
		rc = find_abort(store, t, &standing->aborted);
	return rc == SL_OK ? sl_store_last_over(store, t, &standing->over) : rc;
}

/* ---- record ---- */

static int refuse(struct sl_store *store, const struct sl_durable *what, const char *why)
{
	return sl_err_set(&store->database.error, SL_ERR_REFUSED,
			  "%s: attempt %" PRIu32 " of round %" PRIu32 " is not recorded as %s: %s",
			  store->database.path, what->a, what->t, names[what->kind], why);
}

static int not_recorded(struct sl_store *store, const char *why)
{
	return sl_err_set(&store->database.error, SL_ERR_INVALID, "%s: not recorded: %s",
			  store->database.path, why);
}

/* Return the state that a record makes. */
static enum sl_open_state state_of(const struct sl_persist *persist)
{
	return persist->what.kind == SL_PERSIST_PREPARED   ? SL_OPEN_PREPARED
	       : persist->what.kind == SL_PERSIST_RELEASED ? SL_OPEN_RELEASED
							   : SL_OPEN_ABORTED;
}

/* Return the reason why the diagram in store.h does not have this move, or NULL. */
static const char *breach_of(const struct sl_persist *persist, const struct standing *standing)
{
	const struct attempt *open = &standing->open;
	sl_attempt a = persist->what.a;
	enum sl_open_state from = open->a == a ? open->state : 0;
	if (from != 0 && from == state_of(persist))
		return NULL;
	if (persist->what.kind != SL_PERSIST_PREPARED)
		return from == SL_OPEN_PREPARED ? NULL : "it is not prepared";
	if (a <= standing->aborted)
		return "it was aborted";
	if (a <= standing->over)
		return "it is over";
	if (open->state != 0 && open->a != a)
		return "another one is open";
	return from == 0 ? NULL : "it went further";
}

/* Seal the secrets of a record into the attempt. */
static int take_secrets(struct sl_store *store, const struct sl_secrets *secrets, struct standing *standing)
{
	size_t size;
	int rc = store->seal.known ? SL_OK : sl_seal_take(&store->seal, NULL, &store->database.error);
	uint8_t *plain = rc == SL_OK ? sl_secret_bytes_pack(secrets, &size) : NULL;
	if (plain == NULL)
		return rc == SL_OK ? sl_database_no_memory(&store->database) : rc;
	standing->secrets = malloc(SL_SEAL_BYTES + size);
	if (!sl_secret_bytes_valid(plain, size))
		rc = not_recorded(store, "the secrets are not those of an attempt");
	else if (standing->secrets == NULL)
		rc = sl_database_no_memory(&store->database);
	else
		sl_seal_shut(&store->seal, plain, size, standing->secrets);
	sodium_memzero(plain, size);
	free(plain);
	standing->open.secrets = standing->secrets;
	standing->open.secret_bytes = SL_SEAL_BYTES + size;
	return rc;
}

/* Take the Readys of a record, and with PREPARED its view and secrets, into the open attempt. */
static int take(struct sl_store *store, const struct sl_persist *persist, struct standing *standing)
{
	struct attempt *attempt = &standing->open;
	if (!of_one_view(persist))
		return not_recorded(store, "the Readys are not of one view");
	if (attempt->state != 0 && memcmp(attempt->h, persist->readys[0].view, SL_HASH_BYTES) != 0)
		return refuse(store, &persist->what, "it has another view");
	memcpy(attempt->h, persist->readys[0].view, SL_HASH_BYTES);
	free(standing->readys);
	attempt->readys = standing->readys = pack_readys(persist);
	attempt->ready_bytes = persist->ready_count * SL_DATABASE_READY_BYTES;
	if (standing->readys == NULL)
		return sl_database_no_memory(&store->database);
	if (persist->what.kind != SL_PERSIST_PREPARED || attempt->state != 0)
		return SL_OK;
	if (persist->secrets == NULL)
		return not_recorded(store, "no secrets");
	memcpy(attempt->ready, standing->readys, SL_DATABASE_READY_BYTES);
	attempt->view = persist->view;
	attempt->view_bytes = persist->view_bytes;
	return take_secrets(store, persist->secrets, standing);
}

/* Write the attempt, and with it what it costs; `charge` NULL: nothing. */
static int write_charged(struct sl_store *store, const struct attempt *attempt,
			 const struct sl_dp_round *charge)
{
	struct sl_ledger ledger = store->ledger;
	if (charge == NULL && !sl_ledger_pass(&ledger, store->incarnation, attempt->t, attempt->a))
		return write_attempt(store, attempt);
	if (charge != NULL)
		sl_ledger_charge(&ledger, store->incarnation, attempt->t, attempt->a, charge);
	int rc = sl_database_run(&store->database, SL_STATEMENT_BEGIN);
	if (rc == SL_OK)
		rc = sl_store_put_ledger(store, &ledger);
	if (rc == SL_OK)
		rc = write_attempt(store, attempt);
	if (rc == SL_OK)
		rc = sl_database_run(&store->database, SL_STATEMENT_COMMIT);
	if (rc == SL_OK)
		store->ledger = ledger;
	return rc;
}

/* Write the attempt, unless it is on record in this state. */
static int move(struct sl_store *store, const struct sl_persist *persist, const struct sl_dp_round *charge,
		struct standing *standing)
{
	struct attempt *attempt = &standing->open;
	const char *breach = breach_of(persist, standing);
	if (breach != NULL)
		return refuse(store, &persist->what, breach);
	bool there = attempt->state == state_of(persist);
	int rc = persist->what.kind == SL_PERSIST_ABORTED ? SL_OK : take(store, persist, standing);
	if (rc != SL_OK || there)
		return rc;
	attempt->t = persist->what.t;
	attempt->a = persist->what.a;
	attempt->state = state_of(persist);
	const char *flaw = flaw_of(attempt);
	return flaw == NULL ? write_charged(store, attempt, charge) : not_recorded(store, flaw);
}

/* Record an abort without a Ready, which holds for all earlier attempts. */
static int abort_through(struct sl_store *store, const struct sl_durable *what,
			 const struct standing *standing)
{
	if (standing->open.state != 0 && standing->open.a <= what->a)
		return refuse(store, what, "one that is open would be aborted with it");
	return standing->aborted >= what->a ? SL_OK : write_abort(store, what->t, what->a);
}

static bool is_open(const struct standing *standing, sl_attempt a)
{
	return standing->open.state != 0 && standing->open.a == a;
}

/* Record what the learner says of the result: a Digest or that there is none, and neither is taken back. */
static int vote(struct sl_store *store, const struct sl_persist *persist, struct standing *standing)
{
	enum sl_vote next = persist->what.kind == SL_PERSIST_SIGNS ? SL_VOTE_DIGEST : SL_VOTE_ABORT;
	struct attempt *open = &standing->open;
	if (!is_open(standing, persist->what.a))
		return refuse(store, &persist->what, "it is not open");
	if (open->state == SL_OPEN_PREPARED)
		return refuse(store, &persist->what, "it is neither released nor bound");
	if (open->vote == next)
		return SL_OK;
	if (open->vote != SL_VOTE_NONE)
		return refuse(store, &persist->what, "the other vote stands");
	open->vote = next;
	return write_attempt(store, open);
}

static int is_any(struct sl_database *database, enum sl_statement which, void *context)
{
	(void)database;
	(void)which;
	(void)context;
	return SL_OK;
}

int sl_store_erase_key(struct sl_store *store, bool discard)
{
	int rc = sl_database_each(&store->database, SL_STATEMENT_ANY_ATTEMPT, is_any, NULL);
	if (rc != SL_ERR_NOTFOUND)
		return rc;
	return discard ? sl_seal_discard(&store->seal, &store->database.error)
		       : sl_seal_erase(&store->seal, &store->database.error);
}

/* End the open attempt in one transaction: its secrets go, its Aborts come. */
static int end(struct sl_store *store, const struct sl_persist *persist, const struct standing *standing)
{
	const struct attempt *open = &standing->open;
	if (standing->over == persist->what.a)
		return SL_OK;
	if (!is_open(standing, persist->what.a))
		return refuse(store, &persist->what, "it is not open");
	int rc = sl_database_run(&store->database, SL_STATEMENT_BEGIN);
	if (rc == SL_OK)
		rc = sl_store_put_over(store, persist, open->h, open->ready);
	if (rc == SL_OK && persist->seen != NULL)
		rc = sl_store_put_seen(store, persist->seen);
	if (rc == SL_ERR_INVALID) {
		sl_database_run(&store->database, SL_STATEMENT_ROLLBACK);
		return rc;
	}
	sl_database_bind(&store->database, SL_STATEMENT_END_ATTEMPT, 1, persist->what.t);
	sl_database_bind(&store->database, SL_STATEMENT_END_ATTEMPT, 2, persist->what.a);
	if (rc == SL_OK)
		rc = sl_database_run(&store->database, SL_STATEMENT_END_ATTEMPT);
	if (rc == SL_OK)
		rc = sl_database_run(&store->database, SL_STATEMENT_COMMIT);
	return rc == SL_OK ? sl_store_erase_key(store, false) : rc;
}

static int record(struct sl_store *store, const struct sl_persist *persist, const struct sl_dp_round *charge)
{
	const struct sl_durable *what = &persist->what;
	struct standing standing;
	bool ranged = what->t >= 1 && what->t <= SL_ROUNDS_MAX && what->a >= 1 && what->a <= SL_ATTEMPTS_MAX;
	if (!ranged || what->kind < SL_PERSIST_ABORTED || what->kind > SL_PERSIST_OVER)
		return not_recorded(store, "kind, round or attempt out of range");
	if (what->t <= store->last.t)
		return refuse(store, what, "the round is committed");
	int rc = look(store, what->t, &standing);
	if (rc == SL_OK && what->kind == SL_PERSIST_OVER)
		rc = end(store, persist, &standing);
	else if (rc == SL_OK && what->kind == SL_PERSIST_ABORTED && !persist->ready)
		rc = abort_through(store, what, &standing);
	else if (rc == SL_OK && (what->kind == SL_PERSIST_SIGNS || what->says == SL_ABORT_UNSIGNED))
		rc = vote(store, persist, &standing);
	else if (rc == SL_OK)
		rc = move(store, persist, charge, &standing);
	standing_close(&standing);
	return rc == SL_OK ? sl_database_rest(&store->database, LOG_PAGES_MAX) : rc;
}

int sl_store_record(struct sl_store *store, const struct sl_persist *persist, struct sl_error *error)
{
	int rc = sl_store_enter(store);
	return sl_store_leave(store, rc == SL_OK ? record(store, persist, NULL) : rc, error);
}

int sl_store_prepare(struct sl_store *store, const struct sl_persist *persist,
		     const struct sl_dp_round *charge, struct sl_error *error)
{
	assert(persist->what.kind == SL_PERSIST_PREPARED);
	int rc = sl_store_enter(store);
	return sl_store_leave(store, rc == SL_OK ? record(store, persist, charge) : rc, error);
}

/* ---- reading at a start ---- */

static int check_attempt(struct sl_database *database, enum sl_statement which, void *context)
{
	struct attempt attempt;
	(void)context;
	return read_attempt(database, which, &attempt);
}

int sl_store_check_attempts(struct sl_store *store)
{
	sl_attempt a;
	int rc = sl_database_each(&store->database, SL_STATEMENT_ALL_ATTEMPTS, check_attempt, NULL);
	if (rc == SL_OK || rc == SL_ERR_NOTFOUND)
		rc = sl_database_each(&store->database, SL_STATEMENT_ALL_ABORTS, read_abort, &a);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}

/* Open the sealed secrets; false: under another key. SL_ERR_NOMEM in *rc. */
static bool unseal(const uint8_t *key, struct sl_promises *promises, int *rc)
{
	size_t size = promises->sealed_bytes - SL_SEAL_BYTES;
	uint8_t *plain = malloc(size);
	*rc = plain == NULL ? SL_ERR_NOMEM : SL_OK;
	bool opened = plain != NULL && sl_seal_break(key, promises->sealed, promises->sealed_bytes, plain) &&
		      sl_secret_bytes_valid(plain, size);
	if (opened)
		*rc = sl_secret_bytes_unpack(plain, &promises->secrets);
	if (plain != NULL)
		sodium_memzero(plain, size);
	free(plain);
	return opened;
}

/* Hand the open attempt over to `promises`, with the memory of its view and secrets. */
static int recall_open(const struct sl_store *store, struct standing *standing, struct sl_promises *promises)
{
	int rc = SL_OK;
	const struct attempt *attempt = &standing->open;
	uint32_t count = (uint32_t)(attempt->ready_bytes / SL_DATABASE_READY_BYTES);
	promises->readys = calloc(count, sizeof *promises->readys);
	if (promises->readys == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t i = 0; i < count; i++)
		sl_store_unpack_ready(attempt->readys + i * SL_DATABASE_READY_BYTES, attempt->t, attempt->a,
				      attempt->h, &promises->readys[i]);
	promises->view = standing->view;
	promises->sealed = standing->secrets;
	promises->sealed_bytes = attempt->secret_bytes;
	standing->view = standing->secrets = NULL;
	if (store->seal.known)
		unseal(store->seal.key, promises, &rc);
	promises->a = attempt->a;
	promises->open = (struct sl_open){.state = attempt->state,
					  .vote = attempt->vote,
					  .a = attempt->a,
					  .view = promises->view,
					  .view_bytes = attempt->view_bytes,
					  .readys = promises->readys,
					  .ready_count = count,
					  .secrets = &promises->secrets};
	return rc;
}

static int read_promises(struct sl_store *store, sl_round t, struct sl_promises *promises)
{
	struct standing standing;
	int rc = look(store, t, &standing);
	if (rc == SL_OK && standing.open.state != 0 && recall_open(store, &standing, promises) != SL_OK)
		rc = sl_database_no_memory(&store->database);
	if (rc == SL_OK)
		rc = sl_store_read_overs(store, t, promises);
	if (rc == SL_OK)
		rc = sl_store_read_seen(store, &promises->seen);
	if (standing.aborted > promises->aborted)
		promises->aborted = standing.aborted;
	standing_close(&standing);
	return rc;
}

int sl_store_promises(struct sl_store *store, sl_round t, struct sl_promises *promises,
		      struct sl_error *error)
{
	*promises = (struct sl_promises){.reuse = true};
	int rc = sl_store_enter(store);
	if (rc == SL_OK)
		rc = read_promises(store, t, promises);
	if (rc != SL_OK)
		sl_store_promises_close(promises);
	return sl_store_leave(store, rc, error);
}

static int open_secrets(struct sl_store *store, struct sl_promises *promises, const uint8_t *key)
{
	int rc;
	if (promises->secrets.shares != NULL)
		return SL_OK;
	if (!unseal(key, promises, &rc))
		return rc != SL_OK ? sl_database_no_memory(&store->database)
				   : sl_database_damaged(&store->database, "attempts",
							 "the key of the secrets is gone (attempt.key)");
	return rc == SL_OK ? sl_seal_take(&store->seal, key, &store->database.error)
			   : sl_database_no_memory(&store->database);
}

int sl_store_open_secrets(struct sl_store *store, struct sl_promises *promises,
			  const uint8_t key[static SL_SEAL_KEY_BYTES], struct sl_error *error)
{
	int rc = sl_store_enter(store);
	return sl_store_leave(store, rc == SL_OK ? open_secrets(store, promises, key) : rc, error);
}

int sl_store_key(struct sl_store *store, uint8_t key[static SL_SEAL_KEY_BYTES], struct sl_error *error)
{
	int rc = sl_store_enter(store);
	if (rc == SL_OK && !store->seal.known)
		rc = sl_seal_take(&store->seal, NULL, &store->database.error);
	if (rc == SL_OK)
		memcpy(key, store->seal.key, SL_SEAL_KEY_BYTES);
	return sl_store_leave(store, rc, error);
}

void sl_store_promises_close(struct sl_promises *promises)
{
	struct sl_secrets *secrets = &promises->secrets;
	if (secrets->shares != NULL)
		sodium_memzero(secrets->shares, secrets->count * sizeof *secrets->shares);
	free(secrets->shares);
	free(promises->view);
	free(promises->sealed);
	free(promises->readys);
	free(promises->seen);
	for (uint32_t i = 0; i < promises->over_count; i++)
		free((void *)promises->over[i].aborts);
	free(promises->over);
	sodium_memzero(promises, sizeof *promises);
}
