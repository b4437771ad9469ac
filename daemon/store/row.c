#include "daemon/store/row.h"

#include <string.h>

static void hash_number(struct sl_row *row, uint64_t number)
{
	uint8_t bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> (8 * i));
	crypto_generichash_update(&row->hash, bytes, sizeof bytes);
}

/* Hash a value after its length, so that different rows have different hashes. */
static void hash_bytes(struct sl_row *row, const void *bytes, size_t size)
{
	hash_number(row, size);
	crypto_generichash_update(&row->hash, bytes, size);
}

struct sl_row sl_row_begin(struct sl_database *database, enum sl_statement which, const char *table)
{
	struct sl_row row = {.database = database, .which = which, .table = table};
	crypto_generichash_init(&row.hash, NULL, 0, SL_HASH_BYTES);
	hash_bytes(&row, table, strlen(table));
	return row;
}

static sqlite3_stmt *statement(const struct sl_row *row)
{
	return row->database->statements[row->which];
}

/* ---- writing ---- */

static void bound(struct sl_row *row, int code)
{
	row->unbound = row->unbound || code != SQLITE_OK;
}

/* SQLite's integers are signed: the conversion is undone when the value is read. */
void sl_row_put_number(struct sl_row *row, uint64_t number)
{
	hash_number(row, number);
	bound(row, sqlite3_bind_int64(statement(row), ++row->column, (sqlite3_int64)number));
}

void sl_row_put_bytes(struct sl_row *row, const void *bytes, size_t size)
{
	hash_bytes(row, bytes, size);
	bound(row, sqlite3_bind_blob64(statement(row), ++row->column, bytes, size, SQLITE_STATIC));
}

void sl_row_put_text(struct sl_row *row, const char *text)
{
	hash_bytes(row, text, strlen(text));
	bound(row, sqlite3_bind_text(statement(row), ++row->column, text, -1, SQLITE_STATIC));
}

int sl_row_write(struct sl_row *row)
{
	uint8_t sum[SL_HASH_BYTES];
	crypto_generichash_final(&row->hash, sum, sizeof sum);
	bound(row, sqlite3_bind_blob64(statement(row), ++row->column, sum, sizeof sum, SQLITE_STATIC));
	if (row->unbound)
		return sl_database_no_memory(row->database);
	return sl_database_run(row->database, row->which);
}

/* ---- reading ---- */

static void wrong(struct sl_row *row, const char *why)
{
	if (row->wrong == NULL)
		row->wrong = why;
}

/* Check the type before the value is read, because SQLite would convert the value. */
static bool is(const struct sl_row *row, int type)
{
	return sqlite3_column_type(statement(row), row->column) == type;
}

uint64_t sl_row_number(struct sl_row *row, uint64_t max)
{
	bool typed = is(row, SQLITE_INTEGER);
	uint64_t number = (uint64_t)sqlite3_column_int64(statement(row), row->column++);
	if (!typed || number > max)
		wrong(row, "a number is out of range");
	hash_number(row, number);
	return number;
}

const void *sl_row_blob(struct sl_row *row, size_t max, size_t *size)
{
	bool typed = is(row, SQLITE_BLOB);
	const void *bytes = sqlite3_column_blob(statement(row), row->column);
	*size = (size_t)sqlite3_column_bytes(statement(row), row->column++);
	if (!typed || bytes == NULL || *size > max) {
		wrong(row, "bytes are too many, or none");
		*size = 0;
		return NULL;
	}
	hash_bytes(row, bytes, *size);
	return bytes;
}

void sl_row_bytes(struct sl_row *row, uint8_t *bytes, size_t size)
{
	size_t found;
	const void *blob = sl_row_blob(row, size, &found);
	if (blob == NULL || found != size)
		wrong(row, "a hash has another length");
	else
		memcpy(bytes, blob, size);
}

void sl_row_text(struct sl_row *row, char *text, size_t size)
{
	bool typed = is(row, SQLITE_TEXT);
	const char *found = (const char *)sqlite3_column_text(statement(row), row->column);
	size_t length = (size_t)sqlite3_column_bytes(statement(row), row->column++);
	text[0] = '\0';
	if (!typed || found == NULL || length >= size || strlen(found) != length) {
		wrong(row, "a text is too long, or none");
		return;
	}
	memcpy(text, found, length + 1);
	hash_bytes(row, text, length);
}

int sl_row_end(struct sl_row *row)
{
	uint8_t found[SL_HASH_BYTES] = {0}, sum[SL_HASH_BYTES];
	crypto_generichash_state hash = row->hash; /* the hash column is not part of the hash */
	sl_row_bytes(row, found, sizeof found);
	crypto_generichash_final(&hash, sum, sizeof sum);
	if (memcmp(found, sum, sizeof sum) != 0)
		wrong(row, "a row does not match its checksum");
	return row->wrong == NULL ? SL_OK : sl_database_damaged(row->database, row->table, row->wrong);
}
