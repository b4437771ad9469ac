/* account.c - the account of the rounds: a signed chain of records, one for each committed round, in the file
 * `account` beside the database (ROUND.md §14.6 The account of the rounds).
 *
 * The transaction of a commit has the record, too. After it the record is appended to the file, without a
 * synchronisation of its own: each start writes those of the database into their places again. They leave the
 * database when the file is synchronised, which is done together with the emptying of the log. The newest one
 * stays: the chain goes on from it.
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

static void begin(crypto_generichash_state *hash, const char *domain, const struct sl_store *store)
{
	uint8_t run[SL_RUN_BYTES];
	sl_canonical_run(store->run, run);
	crypto_generichash_init(hash, NULL, 0, SL_HASH_BYTES);
	crypto_generichash_update(hash, (const uint8_t *)domain, strlen(domain) + 1);
	crypto_generichash_update(hash, run, sizeof run);
}

/* Write the link of record `number` with `entry` to `link`: of the link before it and the hash of the entry,
 * so that later records are shown to follow without being shown. */
static void link_of(const struct sl_store *store, uint64_t number, const struct sl_account_entry *entry,
		    uint8_t link[static SL_HASH_BYTES])
{
	crypto_generichash_state hash;
	uint8_t hashed[SL_HASH_BYTES];
	begin(&hash, "starling account entry 1", store);
	crypto_generichash_update(&hash, entry->bytes, entry->size);
	crypto_generichash_final(&hash, hashed, sizeof hashed);
	begin(&hash, "starling account link 1", store);
	number = htole64(number);
	crypto_generichash_update(&hash, (const uint8_t *)&number, sizeof number);
	crypto_generichash_update(&hash, store->account.link, SL_HASH_BYTES);
	crypto_generichash_update(&hash, hashed, sizeof hashed);
	crypto_generichash_final(&hash, link, SL_HASH_BYTES);
}

static void pack(const struct sl_store *store, const struct sl_account_entry *entry,
		 struct sl_account_record *record)
{
	struct sl_writer writer = {.bytes = record->bytes, .size = record->size};
	uint8_t signature[SL_SIG_BYTES];
	link_of(store, record->number, entry, record->link);
	crypto_sign_detached(signature, NULL, record->link, SL_HASH_BYTES, entry->sign_key);
	sl_bytes_put(&writer, MAGIC, 4);
	sl_bytes_put_u32(&writer, (uint32_t)record->size);
	sl_bytes_put_u64(&writer, record->number);
	sl_bytes_put(&writer, store->account.link, SL_HASH_BYTES);
	sl_bytes_put(&writer, entry->bytes, entry->size);
	sl_bytes_put(&writer, signature, sizeof signature);
}

/* ---- the file ---- */

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
		return sl_disk_error(&store->database.error, path, errno);
	if (account->number == 0) /* records that the database does not know are kept */
		account->end = (uint64_t)status.st_size;
	if (status.st_size == 0) /* it may be new */
		sl_folder_sync(store->folder, FILE_NAME);
	return SL_OK;
}

static int fail(struct sl_store *store)
{
	char path[SL_FOLDER_PATH_BYTES];
	sl_folder_path(store->folder, FILE_NAME, path);
	return sl_disk_error(&store->database.error, path, errno);
}

int sl_store_account_append(struct sl_store *store, const struct sl_account_record *record)
{
	struct sl_account *account = &store->account;
	if (record->size == 0)
		return SL_OK;
	sl_failpoint_reach(SL_FAILPOINT_BEFORE_ACCOUNT);
	errno = ENOSPC; /* of a write that is cut short */
	if (pwrite(account->file, record->bytes, record->size, (off_t)record->start) != (ssize_t)record->size)
		return fail(store);
	account->number = record->number;
	account->end = record->start + record->size;
	memcpy(account->link, record->link, SL_HASH_BYTES);
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

static int write_row(struct sl_store *store, const struct sl_account_record *record)
{
	struct sl_row row = sl_row_begin(&store->database, SL_STATEMENT_PUT_ACCOUNT, "account");
	sl_row_put_number(&row, record->number);
	sl_row_put_number(&row, record->start);
	sl_row_put_bytes(&row, record->link, SL_HASH_BYTES);
	sl_row_put_bytes(&row, record->bytes, record->size);
	int rc = sl_row_write(&row);
	if (rc != SL_OK)
		return rc;
	sl_database_bind(&store->database, SL_STATEMENT_FORGET_ACCOUNT, 1,
			 (int64_t)store->account.synchronised);
	return sl_database_run(&store->database, SL_STATEMENT_FORGET_ACCOUNT);
}

int sl_store_account_put(struct sl_store *store, const struct sl_account_entry *entry,
			 struct sl_account_record *record)
{
	*record = (struct sl_account_record){0};
	int rc = entry == NULL ? SL_OK : open_file(store);
	if (entry == NULL || rc != SL_OK)
		return rc;
	record->number = store->account.number + 1;
	record->start = store->account.end;
	record->size = HEAD_BYTES + entry->size + SL_SIG_BYTES;
	record->bytes = malloc(record->size);
	if (record->bytes == NULL)
		return sl_database_no_memory(&store->database);
	pack(store, entry, record);
	return write_row(store, record);
}

/* Write the record of a row into its place. */
static int put_back(struct sl_database *database, enum sl_statement which, void *context)
{
	struct sl_store *store = context;
	struct sl_account_record record = {0};
	struct sl_row row = sl_row_begin(database, which, "account");
	record.number = sl_row_number(&row, INT64_MAX);
	record.start = sl_row_number(&row, INT64_MAX);
	sl_row_bytes(&row, record.link, SL_HASH_BYTES);
	const void *bytes = sl_row_blob(&row, SL_ACCOUNT_RECORD_BYTES_MAX, &record.size);
	int rc = sl_row_end(&row);
	record.bytes = (uint8_t *)bytes;
	store->account.number = rc == SL_OK ? record.number : 0;
	if (rc == SL_OK)
		rc = open_file(store);
	return rc == SL_OK ? sl_store_account_append(store, &record) : rc;
}

int sl_store_account_open(struct sl_store *store)
{
	int rc = sl_database_each(&store->database, SL_STATEMENT_ACCOUNT, put_back, store);
	if (rc == SL_OK && ftruncate(store->account.file, (off_t)store->account.end) < 0)
		return fail(store);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}

void sl_store_account_close(struct sl_store *store)
{
	if (store->account.file >= 0)
		close(store->account.file);
}
