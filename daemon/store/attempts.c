/* The attempts of a round that is not committed: those that bind this learner, and the last aborted one. */
#include "daemon/store/records.h"
#include "daemon/store/row.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"

static const char *const names[] = {
	[SL_PERSIST_ABORTED] = "aborted",
	[SL_PERSIST_PREPARED] = "prepared",
	[SL_PERSIST_RELEASED] = "released",
	[SL_PERSIST_CLOSED] = "closed",
};
static_assert(SL_ATTEMPT_PREPARED == (int)SL_PERSIST_PREPARED &&
		      SL_ATTEMPT_RELEASED == (int)SL_PERSIST_RELEASED &&
		      SL_ATTEMPT_CLOSED == (int)SL_PERSIST_CLOSED,
	      "a record makes the state of its name");
static_assert(SL_ATTEMPT_PREPARED == 2, "as DROP_PREPARED has it");

/* A row; its bytes belong to SQLite and are valid until the statement is reset. */
struct attempt {
	sl_round t;
	sl_attempt a;
	enum sl_attempt_state state;
	uint8_t h[SL_HASH_BYTES];
	const uint8_t *view, *readys;
	size_t view_bytes, ready_bytes;
};

/* Return the reason why a row is invalid, or NULL; checked before writing and after reading. */
static const char *flaw_of(const struct attempt *attempt)
{
	if (attempt->t < 1 || attempt->t > SL_ROUNDS_MAX)
		return "round out of range";
	if (attempt->a < 1 || attempt->a > SL_ATTEMPTS_MAX)
		return "attempt out of range";
	if (attempt->state < SL_ATTEMPT_PREPARED || attempt->state > SL_ATTEMPT_CLOSED)
		return "unknown state";
	if (attempt->view == NULL || attempt->view_bytes < 1 ||
	    attempt->view_bytes > SL_DATABASE_VIEW_BYTES_MAX)
		return "the view is too long, or none";
	size_t count = attempt->ready_bytes / SL_DATABASE_READY_BYTES;
	if (attempt->readys == NULL || attempt->ready_bytes % SL_DATABASE_READY_BYTES != 0 ||
	    count > SL_LEARNERS_MAX)
		return "the Readys are not a list";
	if (attempt->state == SL_ATTEMPT_PREPARED ? count != 1 : count < 2)
		return "the Readys are too few or too many";
	return NULL;
}

/* ---- Readys as bytes: id, K, commitment, signature; the other fields are those of the attempt ---- */

static void pack_ready(struct sl_writer *writer, const struct sl_ready *ready)
{
	sl_bytes_put_u32(writer, ready->id);
	sl_bytes_put_u64(writer, ready->k);
	sl_bytes_put(writer, ready->commitment, SL_HASH_BYTES);
	sl_bytes_put(writer, ready->signature, SL_SIG_BYTES);
}

static uint64_t number_at(const uint8_t *bytes, size_t size)
{
	uint64_t number = 0;
	for (size_t i = size; i > 0; i--)
		number = number << 8 | bytes[i - 1];
	return number;
}

static void unpack_ready(const struct attempt *attempt, uint32_t i, struct sl_ready *ready)
{
	const uint8_t *bytes = attempt->readys + i * SL_DATABASE_READY_BYTES;
	*ready = (struct sl_ready){.t = attempt->t, .a = attempt->a};
	ready->id = (sl_id)number_at(bytes, 4);
	ready->k = number_at(bytes + 4, 8);
	memcpy(ready->view, attempt->h, SL_HASH_BYTES);
	memcpy(ready->commitment, bytes + 12, SL_HASH_BYTES);
	memcpy(ready->signature, bytes + 12 + SL_HASH_BYTES, SL_SIG_BYTES);
}

/* Return true if the Readys belong to the attempt and to one view. */
static bool of_one_view(const struct sl_persist *persist)
{
	for (uint32_t i = 0; i < persist->ready_count; i++) {
		const struct sl_ready *ready = &persist->readys[i];
		if (ready->t != persist->what.t || ready->a != persist->what.a ||
		    memcmp(ready->view, persist->readys[0].view, SL_HASH_BYTES) != 0)
			return false;
	}
	return true;
}

/* Return the Readys of a row; the caller frees them. */
static uint8_t *pack_readys(const struct sl_persist *persist)
{
	size_t size = persist->ready_count * SL_DATABASE_READY_BYTES;
	struct sl_writer writer = {.bytes = malloc(size), .size = size};
	for (uint32_t i = 0; i < persist->ready_count && writer.bytes != NULL; i++)
		pack_ready(&writer, &persist->readys[i]);
	return writer.bytes;
}

/* ---- rows ---- */

static int write_attempt(struct sl_store *store, const struct attempt *attempt)
{
	struct sl_row row = sl_row_begin(&store->database, SL_STATEMENT_PUT_ATTEMPT, "attempts");
	sl_row_put_number(&row, attempt->t);
	sl_row_put_number(&row, attempt->a);
	sl_row_put_number(&row, (uint64_t)attempt->state);
	sl_row_put_bytes(&row, attempt->h, SL_HASH_BYTES);
	sl_row_put_bytes(&row, attempt->view, attempt->view_bytes);
	sl_row_put_bytes(&row, attempt->readys, attempt->ready_bytes);
	return sl_row_write(&row);
}

static int read_attempt(struct sl_database *database, enum sl_statement which, struct attempt *attempt)
{
	struct sl_row row = sl_row_begin(database, which, "attempts");
	attempt->t = (sl_round)sl_row_number(&row, UINT32_MAX);
	attempt->a = (sl_attempt)sl_row_number(&row, UINT32_MAX);
	attempt->state = (enum sl_attempt_state)sl_row_number(&row, SL_ATTEMPT_CLOSED);
	sl_row_bytes(&row, attempt->h, SL_HASH_BYTES);
	attempt->view = sl_row_blob(&row, SL_DATABASE_VIEW_BYTES_MAX, &attempt->view_bytes);
	attempt->readys = sl_row_blob(&row, SL_LEARNERS_MAX * SL_DATABASE_READY_BYTES, &attempt->ready_bytes);
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

/* Read the last aborted attempt of round t into *a; 0: none. */
static int find_abort(struct sl_store *store, sl_round t, sl_attempt *a)
{
	*a = 0;
	sl_database_bind(&store->database, SL_STATEMENT_ABORT, 1, t);
	int rc = sl_database_each(&store->database, SL_STATEMENT_ABORT, read_abort, a);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}

/* ---- the record of a round ---- */

struct standing {
	sl_attempt wanted;
	struct attempt found;	/* attempt of that number; state 0: none. Its bytes are owned copies */
	uint8_t *view, *readys; /* they */
	sl_attempt open;	/* prepared or released attempt; 0: none */
	uint32_t released;	/* released or closed attempts */
	sl_attempt aborted;
};

static uint8_t *copy(const uint8_t *bytes, size_t size)
{
	uint8_t *to = malloc(size);
	if (to != NULL)
		memcpy(to, bytes, size);
	return to;
}

static int look_at(struct sl_database *database, enum sl_statement which, void *context)
{
	struct standing *s = context;
	struct attempt attempt;
	int rc = read_attempt(database, which, &attempt);
	if (rc != SL_OK)
		return rc;
	if (attempt.state != SL_ATTEMPT_CLOSED)
		s->open = attempt.a;
	s->released += attempt.state != SL_ATTEMPT_PREPARED;
	if (attempt.a != s->wanted)
		return SL_OK;
	s->found = attempt;
	s->found.view = s->view = copy(attempt.view, attempt.view_bytes);
	s->found.readys = s->readys = copy(attempt.readys, attempt.ready_bytes);
	return s->view == NULL || s->readys == NULL ? sl_database_no_memory(database) : SL_OK;
}

static int look(struct sl_store *store, const struct sl_durable *what, struct standing *standing)
{
	*standing = (struct standing){.wanted = what->a};
	sl_database_bind(&store->database, SL_STATEMENT_ATTEMPTS, 1, what->t);
	int rc = sl_database_each(&store->database, SL_STATEMENT_ATTEMPTS, look_at, standing);
	return rc == SL_OK || rc == SL_ERR_NOTFOUND ? find_abort(store, what->t, &standing->aborted) : rc;
}

/* ---- record ---- */

static int refuse(struct sl_store *store, const struct sl_durable *what, const char *why)
{
	return sl_err_set(&store->database.error, SL_ERR_REFUSED,
			  "%s: attempt %" PRIu32 " of round %" PRIu32 " is not recorded as %s: %s",
			  store->database.path, what->a, what->t, names[what->kind], why);
}

/* Return the reason why the diagram in store.h does not have this move, or NULL. */
static const char *breach_of(const struct sl_durable *what, const struct standing *standing)
{
	enum sl_attempt_state from = standing->found.state; /* 0: no row */
	bool same = (int)from == (int)what->kind;
	switch (what->kind) {
	case SL_PERSIST_PREPARED:
		if (what->a <= standing->aborted)
			return "it was aborted";
		if (standing->open != 0 && standing->open != what->a)
			return "another one is open";
		return from == 0 || same ? NULL : "it went further";
	case SL_PERSIST_RELEASED:
		if (!same && standing->released >= SL_RELEASED_MAX)
			return "too many were";
		return from == SL_ATTEMPT_PREPARED || same ? NULL : "it is not prepared";
	case SL_PERSIST_CLOSED:
		return from == SL_ATTEMPT_RELEASED || same ? NULL : "it is not released";
	default:
		return NULL;
	}
}

/* Return the reason why the Readys of a record (with PREPARED: and its view) are invalid, or NULL. */
static int take(struct sl_store *store, const struct sl_persist *persist, struct standing *standing)
{
	struct attempt *attempt = &standing->found;
	if (persist->ready_count == 0 || !of_one_view(persist))
		return sl_err_set(&store->database.error, SL_ERR_INVALID,
				  "%s: not recorded: the Readys are not of one view", store->database.path);
	if (attempt->state != 0 && memcmp(attempt->h, persist->readys[0].view, SL_HASH_BYTES) != 0)
		return refuse(store, &persist->what, "it has another view");
	memcpy(attempt->h, persist->readys[0].view, SL_HASH_BYTES);
	free(standing->readys);
	attempt->readys = standing->readys = pack_readys(persist);
	attempt->ready_bytes = persist->ready_count * SL_DATABASE_READY_BYTES;
	if (persist->what.kind == SL_PERSIST_PREPARED) {
		attempt->view = persist->view;
		attempt->view_bytes = persist->view_bytes;
	}
	return standing->readys != NULL ? SL_OK : sl_database_no_memory(&store->database);
}

/* Write the attempt, unless it is on record in this state. */
static int move(struct sl_store *store, const struct sl_persist *persist, struct standing *standing)
{
	struct attempt *attempt = &standing->found;
	const char *breach = breach_of(&persist->what, standing);
	if (breach != NULL)
		return refuse(store, &persist->what, breach);
	bool there = (int)attempt->state == (int)persist->what.kind;
	int rc = persist->what.kind == SL_PERSIST_CLOSED ? SL_OK : take(store, persist, standing);
	if (rc != SL_OK || there)
		return rc;
	attempt->t = persist->what.t;
	attempt->a = persist->what.a;
	attempt->state = (enum sl_attempt_state)persist->what.kind;
	const char *flaw = flaw_of(attempt);
	return flaw == NULL ? write_attempt(store, attempt)
			    : sl_err_set(&store->database.error, SL_ERR_INVALID, "%s: not recorded: %s",
					 store->database.path, flaw);
}

static int record_attempt(struct sl_store *store, const struct sl_persist *persist)
{
	struct standing standing;
	int rc = look(store, &persist->what, &standing);
	if (rc == SL_OK)
		rc = move(store, persist, &standing);
	free(standing.view);
	free(standing.readys);
	return rc;
}

/* Record the abort and remove attempts that were only prepared, in one transaction. */
static int abort_record(struct sl_store *store, const struct sl_durable *what)
{
	sl_attempt aborted;
	int rc = find_abort(store, what->t, &aborted);
	if (rc != SL_OK || aborted >= what->a)
		return rc;
	rc = sl_database_run(&store->database, SL_STATEMENT_BEGIN);
	if (rc == SL_OK)
		rc = write_abort(store, what->t, what->a);
	sl_database_bind(&store->database, SL_STATEMENT_DROP_PREPARED, 1, what->t);
	sl_database_bind(&store->database, SL_STATEMENT_DROP_PREPARED, 2, what->a);
	if (rc == SL_OK)
		rc = sl_database_run(&store->database, SL_STATEMENT_DROP_PREPARED);
	return rc == SL_OK ? sl_database_run(&store->database, SL_STATEMENT_COMMIT) : rc;
}

static int record(struct sl_store *store, const struct sl_persist *persist)
{
	const struct sl_durable *what = &persist->what;
	bool ranged = what->t >= 1 && what->t <= SL_ROUNDS_MAX && what->a >= 1 && what->a <= SL_ATTEMPTS_MAX;
	if (!ranged || what->kind < SL_PERSIST_ABORTED || what->kind > SL_PERSIST_CLOSED)
		return sl_err_set(&store->database.error, SL_ERR_INVALID,
				  "%s: not recorded: kind, round or attempt out of range",
				  store->database.path);
	if (what->t <= store->last.t)
		return refuse(store, what, "the round is committed");
	return what->kind == SL_PERSIST_ABORTED ? abort_record(store, what) : record_attempt(store, persist);
}

int sl_store_record(struct sl_store *store, const struct sl_persist *persist, struct sl_error *error)
{
	int rc = sl_store_enter(store);
	return sl_store_leave(store, rc == SL_OK ? record(store, persist) : rc, error);
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

static int recall_open(const struct attempt *attempt, struct sl_promises *promises)
{
	uint32_t count = (uint32_t)(attempt->ready_bytes / SL_DATABASE_READY_BYTES);
	promises->view = copy(attempt->view, attempt->view_bytes);
	promises->readys = calloc(count, sizeof *promises->readys);
	if (promises->view == NULL || promises->readys == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t i = 0; i < count; i++)
		unpack_ready(attempt, i, &promises->readys[i]);
	promises->a = attempt->a;
	promises->open = (struct sl_open){.a = attempt->a,
					  .released = attempt->state == SL_ATTEMPT_RELEASED,
					  .view = promises->view,
					  .view_bytes = attempt->view_bytes,
					  .readys = promises->readys,
					  .ready_count = count};
	return SL_OK;
}

static int recall(struct sl_database *database, enum sl_statement which, void *context)
{
	struct sl_promises *promises = context;
	struct attempt attempt;
	int rc = read_attempt(database, which, &attempt);
	if (rc != SL_OK)
		return rc;
	bool open = attempt.state != SL_ATTEMPT_CLOSED, released = attempt.state != SL_ATTEMPT_PREPARED;
	if ((open && promises->a != 0) || (released && promises->released_count == SL_RELEASED_MAX))
		return sl_database_damaged(database, "attempts",
					   "more than one is open, or too many were released");
	if (released)
		promises->released[promises->released_count++] = attempt.a;
	if (!open)
		promises->closed = attempt.a;
	return open && recall_open(&attempt, promises) != SL_OK ? sl_database_no_memory(database) : SL_OK;
}

static int read_promises(struct sl_store *store, sl_round t, struct sl_promises *promises)
{
	sl_database_bind(&store->database, SL_STATEMENT_ATTEMPTS, 1, t);
	int rc = sl_database_each(&store->database, SL_STATEMENT_ATTEMPTS, recall, promises);
	return rc == SL_OK || rc == SL_ERR_NOTFOUND ? find_abort(store, t, &promises->aborted) : rc;
}

int sl_store_promises(struct sl_store *store, sl_round t, struct sl_promises *promises,
		      struct sl_error *error)
{
	*promises = (struct sl_promises){0};
	int rc = sl_store_enter(store);
	if (rc == SL_OK)
		rc = read_promises(store, t, promises);
	if (rc != SL_OK)
		sl_store_promises_close(promises);
	return sl_store_leave(store, rc, error);
}

struct bytes {
	uint8_t *bytes;
	size_t size;
};

static int recall_view(struct sl_database *database, enum sl_statement which, void *context)
{
	struct bytes *view = context;
	struct attempt attempt;
	int rc = read_attempt(database, which, &attempt);
	if (rc != SL_OK)
		return rc;
	view->bytes = copy(attempt.view, attempt.view_bytes);
	view->size = attempt.view_bytes;
	return view->bytes != NULL ? SL_OK : sl_database_no_memory(database);
}

int sl_store_last_view(struct sl_store *store, uint8_t **view, size_t *size, struct sl_error *error)
{
	struct bytes found = {0};
	int rc = sl_store_enter(store);
	if (rc == SL_OK)
		rc = sl_database_each(&store->database, SL_STATEMENT_LAST_VIEW, recall_view, &found);
	*view = found.bytes;
	*size = found.size;
	return sl_store_leave(store, rc == SL_ERR_NOTFOUND ? SL_OK : rc, error);
}

void sl_store_promises_close(struct sl_promises *promises)
{
	free(promises->view);
	free(promises->readys);
	*promises = (struct sl_promises){0};
}
