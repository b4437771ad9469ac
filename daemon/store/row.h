/* row.h - one row of a table, written or read column by column in the statement's order. The last column is
 * the hash of the others. */
#pragma once

#include <sodium.h>

#include "daemon/store/database.h"

struct sl_row {
	struct sl_database *database;
	enum sl_statement which;
	const char *table;
	int column;
	bool unbound;	   /* writing: out of memory for a column */
	const char *wrong; /* reading: first column that is not as it was written */
	crypto_generichash_state hash;
};

/* Begin to write or read a row of `table` with statement `which`. */
struct sl_row sl_row_begin(struct sl_database *database, enum sl_statement which, const char *table);

/* Write a column. The bytes and the text must live until sl_row_write. */
void sl_row_put_number(struct sl_row *row, uint64_t number);
void sl_row_put_bytes(struct sl_row *row, const void *bytes, size_t size);
void sl_row_put_text(struct sl_row *row, const char *text);
/* Append the hash and run the statement. */
int sl_row_write(struct sl_row *row);

/* Read a column. The values are valid only if sl_row_end returns SL_OK; it returns SL_ERR_FORMAT for damage.
 */
uint64_t sl_row_number(struct sl_row *row, uint64_t max);
void sl_row_bytes(struct sl_row *row, uint8_t *bytes, size_t size);
void sl_row_text(struct sl_row *row, char *text, size_t size);
/* Return up to `max` bytes, valid until the statement is reset, or NULL if there are none. */
const void *sl_row_blob(struct sl_row *row, size_t max, size_t *size);
int sl_row_end(struct sl_row *row);
