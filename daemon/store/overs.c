/* overs.c - attempts that are over: a row each, with the own Ready and the Aborts that end them; and how
 * Readys and Aborts are written. */
#include "daemon/store/records.h"
#include "daemon/store/row.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"

/* A row; its Aborts are their number and then SL_DATABASE_ABORT_BYTES each. They belong to SQLite and are
 * valid until the statement is reset. */
struct over {
	sl_round t;
	sl_attempt a;
	bool reuse;
	uint8_t h[SL_HASH_BYTES], ready[SL_DATABASE_READY_BYTES];
	const uint8_t *aborts;
	size_t bytes;
};

/* ---- Readys as bytes: id, K, hashes, signature; the other fields are those of the attempt ---- */

void sl_store_pack_ready(struct sl_writer *writer, const struct sl_ready *ready)
{
	sl_bytes_put_u32(writer, ready->id);
	sl_bytes_put_u64(writer, ready->k);
	sl_bytes_put(writer, ready->deposit, SL_HASH_BYTES);
	sl_bytes_put(writer, ready->key_hash, SL_HASH_BYTES);
	sl_bytes_put(writer, ready->challenge_hash, SL_HASH_BYTES);
	sl_bytes_put(writer, ready->share_root, SL_HASH_BYTES);
	sl_bytes_put(writer, ready->signature, SL_SIG_BYTES);
}

void sl_store_unpack_ready(const uint8_t *at, sl_round t, sl_attempt a, const uint8_t h[static SL_HASH_BYTES],
			   struct sl_ready *ready)
{
	*ready = (struct sl_ready){.t = t, .a = a, .id = sl_bytes_get_u32(at), .k = sl_bytes_get_u64(at + 4)};
	at += 12;
	memcpy(ready->view, h, SL_HASH_BYTES);
	memcpy(ready->deposit, at, SL_HASH_BYTES);
	memcpy(ready->key_hash, at + SL_HASH_BYTES, SL_HASH_BYTES);
	memcpy(ready->challenge_hash, at + 2 * SL_HASH_BYTES, SL_HASH_BYTES);
	memcpy(ready->share_root, at + 3 * SL_HASH_BYTES, SL_HASH_BYTES);
	memcpy(ready->signature, at + 4 * SL_HASH_BYTES, SL_SIG_BYTES);
}

/* ---- Aborts as bytes: id, incarnation, says, key, ready, signature; round and attempt are those of the row
 * ----
 */

static void pack_abort(struct sl_writer *writer, const struct sl_abort *abort_record)
{
	sl_bytes_put_u32(writer, abort_record->id);
	sl_bytes_put_u32(writer, abort_record->incarnation);
	sl_bytes_put_u32(writer, abort_record->says);
	sl_bytes_put(writer, abort_record->key, SL_KEY_BYTES);
	sl_bytes_put(writer, abort_record->ready, SL_HASH_BYTES);
	sl_bytes_put(writer, abort_record->signature, SL_SIG_BYTES);
}

static uint32_t count_of(const struct over *over)
{
	return (uint32_t)((over->bytes - 4) / SL_DATABASE_ABORT_BYTES);
}

static void unpack_abort(const struct over *over, uint32_t i, struct sl_abort *abort_record)
{
	const uint8_t *at = over->aborts + 4 + i * SL_DATABASE_ABORT_BYTES;
	*abort_record = (struct sl_abort){.t = over->t,
					  .a = over->a,
					  .id = sl_bytes_get_u32(at),
					  .incarnation = sl_bytes_get_u32(at + 4),
					  .says = sl_bytes_get_u32(at + 8)};
	at += 12;
	memcpy(abort_record->key, at, SL_KEY_BYTES);
	memcpy(abort_record->ready, at + SL_KEY_BYTES, SL_HASH_BYTES);
	memcpy(abort_record->signature, at + SL_KEY_BYTES + SL_HASH_BYTES, SL_SIG_BYTES);
}

/* ---- rows ---- */

/* Return the reason why a row is invalid, or NULL; checked before writing and after reading. */
static const char *flaw_of(const struct over *over)
{
	if (over->t < 1 || over->t > SL_ROUNDS_MAX)
		return "round out of range";
	if (over->a < 1 || over->a > SL_ATTEMPTS_MAX)
		return "attempt out of range";
	if (over->aborts == NULL || over->bytes < 4 || (over->bytes - 4) % SL_DATABASE_ABORT_BYTES != 0 ||
	    count_of(over) > SL_LEARNERS_MAX || count_of(over) != sl_bytes_get_u32(over->aborts))
		return "the Aborts are not a list";
	return NULL;
}

static int read_over(struct sl_database *database, enum sl_statement which, struct over *over)
{
	struct sl_row row = sl_row_begin(database, which, "overs");
	over->t = (sl_round)sl_row_number(&row, UINT32_MAX);
	over->a = (sl_attempt)sl_row_number(&row, UINT32_MAX);
	over->reuse = sl_row_number(&row, 1) == 1;
	sl_row_bytes(&row, over->h, sizeof over->h);
	sl_row_bytes(&row, over->ready, sizeof over->ready);
	over->aborts = sl_row_blob(&row, 4 + SL_LEARNERS_MAX * SL_DATABASE_ABORT_BYTES, &over->bytes);
	int rc = sl_row_end(&row);
	const char *flaw = rc == SL_OK ? flaw_of(over) : NULL;
	return flaw == NULL ? rc : sl_database_damaged(database, "overs", flaw);
}

static int write_over(struct sl_store *store, const struct over *over)
{
	struct sl_row row = sl_row_begin(&store->database, SL_STATEMENT_PUT_OVER, "overs");
	sl_row_put_number(&row, over->t);
	sl_row_put_number(&row, over->a);
	sl_row_put_number(&row, over->reuse);
	sl_row_put_bytes(&row, over->h, sizeof over->h);
	sl_row_put_bytes(&row, over->ready, sizeof over->ready);
	sl_row_put_bytes(&row, over->aborts, over->bytes);
	return sl_row_write(&row);
}

/* Return true if the Aborts are of the attempt that is over. */
static bool of_attempt(const struct sl_persist *persist)
{
	for (uint32_t i = 0; i < persist->abort_count; i++)
		if (persist->aborts[i].t != persist->what.t || persist->aborts[i].a != persist->what.a)
			return false;
	return persist->abort_count <= SL_LEARNERS_MAX;
}

int sl_store_put_over(struct sl_store *store, const struct sl_persist *persist,
		      const uint8_t h[static SL_HASH_BYTES], const uint8_t *ready)
{
	if (!of_attempt(persist))
		return sl_err_set(&store->database.error, SL_ERR_INVALID,
				  "%s: not recorded: the Aborts are not of one attempt",
				  store->database.path);
	size_t size = 4 + persist->abort_count * SL_DATABASE_ABORT_BYTES;
	struct sl_writer writer = {.bytes = malloc(size), .size = size};
	if (writer.bytes == NULL)
		return sl_database_no_memory(&store->database);
	sl_bytes_put_u32(&writer, persist->abort_count);
	for (uint32_t i = 0; i < persist->abort_count; i++)
		pack_abort(&writer, &persist->aborts[i]);
	struct over over = {.t = persist->what.t,
			    .a = persist->what.a,
			    .reuse = persist->reuse,
			    .aborts = writer.bytes,
			    .bytes = size};
	memcpy(over.h, h, sizeof over.h);
	memcpy(over.ready, ready, sizeof over.ready);
	int rc = write_over(store, &over);
	free(writer.bytes);
	return rc;
}

/* ---- reading ---- */

static int check_over(struct sl_database *database, enum sl_statement which, void *context)
{
	struct over over;
	(void)context;
	return read_over(database, which, &over);
}

int sl_store_check_overs(struct sl_store *store)
{
	int rc = sl_database_each(&store->database, SL_STATEMENT_ALL_OVERS, check_over, NULL);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}

static int keep_last(struct sl_database *database, enum sl_statement which, void *context)
{
	struct over over;
	int rc = read_over(database, which, &over);
	*(sl_attempt *)context = over.a;
	return rc;
}

int sl_store_last_over(struct sl_store *store, sl_round t, sl_attempt *a)
{
	*a = 0;
	sl_database_bind(&store->database, SL_STATEMENT_OVERS, 1, t);
	int rc = sl_database_each(&store->database, SL_STATEMENT_OVERS, keep_last, a);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}

/* Append an attempt to `promises`; SL_ERR_NOMEM. */
static int append(const struct over *over, struct sl_promises *promises)
{
	uint32_t count = count_of(over);
	struct sl_abort *aborts = calloc(count + 1, sizeof *aborts);
	struct sl_over *all = realloc(promises->over, (promises->over_count + 1) * sizeof *all);
	if (all != NULL)
		promises->over = all;
	if (all == NULL || aborts == NULL) {
		free(aborts);
		return SL_ERR_NOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		unpack_abort(over, i, &aborts[i]);
	struct sl_over *last = &all[promises->over_count++];
	*last = (struct sl_over){.a = over->a, .count = count, .aborts = aborts};
	sl_store_unpack_ready(over->ready, over->t, over->a, over->h, &last->ready);
	return SL_OK;
}

static int recall(struct sl_database *database, enum sl_statement which, void *context)
{
	struct sl_promises *promises = context;
	struct over over;
	int rc = read_over(database, which, &over);
	if (rc != SL_OK)
		return rc;
	promises->aborted = over.a;
	promises->reuse = promises->reuse && over.reuse;
	return append(&over, promises) == SL_OK ? SL_OK : sl_database_no_memory(database);
}

int sl_store_read_overs(struct sl_store *store, sl_round t, struct sl_promises *promises)
{
	sl_database_bind(&store->database, SL_STATEMENT_OVERS, 1, t);
	int rc = sl_database_each(&store->database, SL_STATEMENT_OVERS, recall, promises);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}
