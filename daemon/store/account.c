/* account.c - the account of the rounds: a signed chain of records, one for each committed round, in the file
 * `account` beside the database (ROUND.md §14.6 The account of the rounds).
 *
 * The transaction of a commit has the record, too. After it the record is appended to the file, without a
 * synchronisation of its own: each start writes those of the database into their places again. They leave the
 * database when the file is synchronised, which is done at each start and together with the emptying of the
 * log. The newest one stays: the chain goes on from it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "common/model/disk_error.h"
#include "common/protocol/canonical.h"
#include "daemon/runtime/failpoint.h"
#include "daemon/store/records.h"
#include "daemon/store/row.h"

#define FILE_NAME "account"
#define MAGIC "SLac"
#define HEAD_BYTES (4u + 4u + 8u + SL_HASH_BYTES) /* magic, size of the record, number, previous link */

/* ---- the chain ---- */

/* Write the link of record `number` with `entry` to `link`: of the link before it and the hash of the entry,
 * so that later records are shown to follow without being shown. */
static void link_of(const struct sl_store *store, uint64_t number, const struct sl_account_entry *entry,
		    uint8_t link[static SL_HASH_BYTES])
{
	static const char domain[] = "starling account 1";
	uint8_t run[SL_RUN_BYTES], hash[SL_HASH_BYTES],
		bytes[sizeof domain + sizeof run + 8 + 2 * sizeof hash];
	struct sl_writer writer = {.bytes = bytes, .size = sizeof bytes};
	sl_canonical_run(store->run, run);
	crypto_generichash(hash, sizeof hash, entry->bytes, entry->size, NULL, 0);
	sl_bytes_put(&writer, domain, sizeof domain);
	sl_bytes_put(&writer, run, sizeof run);
	sl_bytes_put_u64(&writer, number);
	sl_bytes_put(&writer, store->account.link, SL_HASH_BYTES);
	sl_bytes_put(&writer, hash, sizeof hash);
	crypto_generichash(link, SL_HASH_BYTES, bytes, sizeof bytes, NULL, 0);
}

/* ---- the file ---- */

static int fail(struct sl_store *store)
{
	char path[SL_FOLDER_PATH_BYTES];
	sl_folder_path(store->folder, FILE_NAME, path);
	return sl_disk_error(&store->database.error, path, errno);
}

static int open_file(struct sl_store *store)
{
	char path[SL_FOLDER_PATH_BYTES];
	struct stat status;
	struct sl_account *account = &store->account;
	if (account->file >= 0)
		return SL_OK;
	sl_folder_path(store->folder, FILE_NAME, path);
	account->file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (account->file < 0 || fstat(account->file, &status) < 0)
		return fail(store);
	if (account->number == 0) /* records that the database does not know are kept */
		account->end = (uint64_t)status.st_size;
	if (status.st_size == 0) /* it may be new */
		sl_folder_sync(store->folder, FILE_NAME);
	return SL_OK;
}

int sl_store_account_sync(struct sl_store *store)
{
	if (store->account.file < 0)
		return SL_OK;
	if (fdatasync(store->account.file) < 0)
		return fail(store);
	store->account.synchronised = store->account.number;
	return SL_OK;
}

/* ---- the rows ---- */

static int write_row(struct sl_store *store, const struct sl_account_entry *entry, struct sl_writer *writer)
{
	uint8_t link[SL_HASH_BYTES], signature[SL_SIG_BYTES];
	struct sl_account *account = &store->account;
	link_of(store, account->number + 1, entry, link);
	crypto_sign_detached(signature, NULL, link, sizeof link, entry->sign_key);
	sl_bytes_put(writer, MAGIC, 4);
	sl_bytes_put_u32(writer, (uint32_t)writer->size);
	sl_bytes_put_u64(writer, account->number + 1);
	sl_bytes_put(writer, account->link, SL_HASH_BYTES);
	sl_bytes_put(writer, entry->bytes, entry->size);
	sl_bytes_put(writer, signature, sizeof signature);
	struct sl_row row = sl_row_begin(&store->database, SL_STATEMENT_PUT_ACCOUNT, "account");
	sl_row_put_number(&row, account->number + 1);
	sl_row_put_number(&row, account->end);
	sl_row_put_bytes(&row, link, sizeof link);
	sl_row_put_bytes(&row, writer->bytes, writer->size);
	return sl_row_write(&row);
}

int sl_store_account_put(struct sl_store *store, const struct sl_account_entry *entry)
{
	int rc = open_file(store);
	if (rc != SL_OK)
		return rc;
	struct sl_writer writer = {.size = HEAD_BYTES + entry->size + SL_SIG_BYTES};
	writer.bytes = malloc(writer.size);
	if (writer.bytes == NULL)
		return sl_database_no_memory(&store->database);
	rc = write_row(store, entry, &writer);
	free(writer.bytes);
	if (rc != SL_OK)
		return rc;
	sl_database_bind(&store->database, SL_STATEMENT_FORGET_ACCOUNT, 1,
			 (int64_t)store->account.synchronised);
	return sl_database_run(&store->database, SL_STATEMENT_FORGET_ACCOUNT);
}

/* Write the record of a row into its place. */
static int put_into_place(struct sl_database *database, enum sl_statement which, void *context)
{
	struct sl_store *store = context;
	struct sl_account *account = &store->account;
	size_t size;
	struct sl_row row = sl_row_begin(database, which, "account");
	account->number = sl_row_number(&row, INT64_MAX);
	uint64_t start = sl_row_number(&row, INT64_MAX);
	sl_row_bytes(&row, account->link, SL_HASH_BYTES);
	const void *bytes = sl_row_blob(&row, SL_ACCOUNT_RECORD_BYTES_MAX, &size);
	int rc = sl_row_end(&row);
	account->end = start + size;
	if (rc == SL_OK)
		rc = open_file(store);
	if (rc != SL_OK)
		return rc;
	sl_failpoint_reach(SL_FAILPOINT_BEFORE_ACCOUNT);
	errno = ENOSPC; /* of a write that is cut short */
	return pwrite(account->file, bytes, size, (off_t)start) == (ssize_t)size ? SL_OK : fail(store);
}

int sl_store_account_write(struct sl_store *store)
{
	sl_database_bind(&store->database, SL_STATEMENT_ACCOUNT, 1, (int64_t)store->account.number);
	int rc = sl_database_each(&store->database, SL_STATEMENT_ACCOUNT, put_into_place, store);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}

int sl_store_account_open(struct sl_store *store)
{
	int rc = sl_store_account_write(store);
	bool cut = rc == SL_OK && store->account.file >= 0;
	if (cut && ftruncate(store->account.file, (off_t)store->account.end) < 0)
		return fail(store);
	return rc == SL_OK ? sl_store_account_sync(store) : rc;
}
