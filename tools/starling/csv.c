#include "tools/starling/csv.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_BYTES_MAX (1u << 20)
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* Within a record. A quote opens a quoted field only at the start of the field. */
enum place { START, PLAIN, QUOTED, AFTER_QUOTE };

static int put(struct sl_csv *c, char byte, struct sl_error *error)
{
	if (c->used == c->room) {
		size_t room = c->room == 0 ? 256 : 2 * c->room;
		char *grown = room <= RECORD_BYTES_MAX ? realloc(c->text, room) : NULL;
		if (grown == NULL)
			return sl_err_set(error, SL_ERR_FORMAT, "%s:%u: a record of more than %u bytes",
					  c->path, c->line, RECORD_BYTES_MAX);
		c->text = grown;
		c->room = room;
	}
	c->text[c->used++] = byte;
	return SL_OK;
}

static bool is_blank(int byte)
{
	return byte == ' ' || byte == '\t';
}

static int end_field(struct sl_csv *c, enum place place, struct sl_error *error)
{
	while (place == PLAIN && is_blank(c->text[c->used - 1]))
		c->used--;
	c->fields++;
	return put(c, '\0', error);
}

static int take_byte(struct sl_csv *c, int byte, enum place *place, struct sl_error *error)
{
	enum place before = *place;
	if (byte == '\0')
		return sl_err_set(error, SL_ERR_FORMAT, "%s:%u: a zero byte: not a text file", c->path,
				  c->line);
	if (before == QUOTED && byte == '"') {
		*place = AFTER_QUOTE;
		return SL_OK;
	}
	if (before == QUOTED)
		return put(c, (char)byte, error);
	if (byte == ',') {
		*place = START;
		return end_field(c, before, error);
	}
	if (byte == '"' && before != PLAIN) {
		*place = QUOTED;
		return before == AFTER_QUOTE ? put(c, '"', error) : SL_OK; /* a doubled one */
	}
	if (is_blank(byte) && before != PLAIN)
		return SL_OK;
	if (before == AFTER_QUOTE)
		return sl_err_set(error, SL_ERR_FORMAT, "%s:%u: text after the quotes of a field", c->path,
				  c->line);
	*place = PLAIN;
	return put(c, (char)byte, error);
}

/* Return the next byte; outside quotes, \r\n and \r are \n. */
static int next_byte(FILE *file, enum place place)
{
	int byte = fgetc(file);
	if (byte != '\r' || place == QUOTED)
		return byte;
	int next = fgetc(file);
	if (next != '\n')
		ungetc(next, file); /* EOF is not put back */
	return '\n';
}

/* Read one record, up to a line end outside quotes. SL_PENDING: the end. */
static int read_record(struct sl_csv *c, struct sl_error *error)
{
	enum place place = START;
	unsigned lines = 0;
	int byte, rc = SL_OK;
	c->line++;
	c->used = c->fields = 0;
	while (rc == SL_OK && (byte = next_byte(c->file, place)) != EOF &&
	       (byte != '\n' || place == QUOTED)) {
		lines += byte == '\n';
		rc = take_byte(c, byte, &place, error);
		if (c->line == 1 && c->used == strlen(BYTE_ORDER_MARK) &&
		    memcmp(c->text, BYTE_ORDER_MARK, c->used) == 0) {
			c->used = 0;
			place = START;
		}
	}
	if (rc != SL_OK)
		return rc;
	if (ferror(c->file))
		return sl_err_set(error, SL_ERR_IO, "%s: %s", c->path, strerror(errno));
	if (place == QUOTED)
		return sl_err_set(error, SL_ERR_FORMAT, "%s:%u: a quoted field has no end", c->path, c->line);
	c->line += lines;
	c->empty = place == START && c->fields == 0;
	return byte == EOF && c->empty ? SL_PENDING : end_field(c, place, error);
}

static const char *next_field(const char *field)
{
	return field + strlen(field) + 1;
}

/* Set the column of this name in the record of names. */
static int find_column(struct sl_csv *c, const char *column, struct sl_error *error)
{
	const char *name = c->text;
	char names[256] = "";
	unsigned found = 0;
	c->columns = c->fields;
	for (size_t i = 0; i < c->columns; i++, name = next_field(name)) {
		size_t used = strlen(names);
		snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", name);
		if (strcmp(name, column) != 0)
			continue;
		c->column = i;
		found++;
	}
	if (found == 0)
		return sl_err_set(error, SL_ERR_INVALID, "%s: there is no column '%s'; the columns are %s",
				  c->path, column, names);
	if (found > 1)
		return sl_err_set(error, SL_ERR_INVALID,
				  "%s: %u columns have the name '%s': rename all but one", c->path, found,
				  column);
	return SL_OK;
}

int sl_csv_open(struct sl_csv *csv, const char *path, const char *column, struct sl_error *error)
{
	*csv = (struct sl_csv){.path = path, .file = fopen(path, "re")};
	if (csv->file == NULL)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	int rc = read_record(csv, error);
	if (rc == SL_PENDING || (rc == SL_OK && csv->empty))
		rc = sl_err_set(error, SL_ERR_FORMAT, "%s: the first line must name the columns", path);
	if (rc == SL_OK)
		rc = find_column(csv, column, error);
	if (rc != SL_OK)
		sl_csv_close(csv);
	return rc;
}

void sl_csv_close(struct sl_csv *csv)
{
	if (csv->file != NULL)
		fclose(csv->file);
	free(csv->text);
	*csv = (struct sl_csv){0};
}

const char *sl_csv_next(struct sl_csv *csv, struct sl_error *error)
{
	int rc;
	do
		rc = read_record(csv, error);
	while (rc == SL_OK && csv->empty);
	if (rc != SL_OK)
		return NULL;
	if (csv->fields != csv->columns) {
		sl_err_set(
			error, SL_ERR_FORMAT,
			"%s:%u: %zu fields, but the first line names %zu: put quotes around a field with a "
			"comma",
			csv->path, csv->line, csv->fields, csv->columns);
		return NULL;
	}
	const char *field = csv->text;
	for (size_t i = 0; i < csv->column; i++)
		field = next_field(field);
	return field;
}
