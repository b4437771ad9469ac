#include "tools/starling/csv.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_BYTES_MAX (1u << 20)
#define FIELDS_MAX 65536u

/* Read one record, up to a newline outside quotes; its text is not split yet. SL_PENDING: the end. */
static int read_record(struct sl_csv *c, struct sl_error *error)
{
	size_t used = 0;
	bool quoted = false;
	int byte;
	c->line++;
	unsigned lines = 0;
	while ((byte = fgetc(c->file)) != EOF && (byte != '\n' || quoted)) {
		quoted ^= byte == '"';
		lines += byte == '\n';
		if (used + 1 >= c->room) {
			size_t room = c->room == 0 ? 256 : 2 * c->room;
			char *grown = room <= RECORD_BYTES_MAX ? realloc(c->text, room) : NULL;
			if (grown == NULL)
				return sl_err_set(error, SL_ERR_FORMAT,
						  "%s:%u: a record of more than %u bytes", c->path, c->line,
						  RECORD_BYTES_MAX);
			c->text = grown;
			c->room = room;
		}
		c->text[used++] = (char)byte;
	}
	if (ferror(c->file))
		return sl_err_set(error, SL_ERR_IO, "%s: %s", c->path, strerror(errno));
	if (byte == EOF && used == 0)
		return SL_PENDING;
	if (quoted)
		return sl_err_set(error, SL_ERR_FORMAT, "%s:%u: a quoted field has no end", c->path, c->line);
	used -= used > 0 && c->text[used - 1] == '\r';
	if (used > 0)
		c->text[used] = '\0';
	else if (c->text != NULL)
		*c->text = '\0';
	c->line += lines;
	return SL_OK;
}

static char *skip_blanks(char *at)
{
	return at + strspn(at, " \t");
}

/* Return the field at *at, ended by a zero, and move *at to the next one; *at NULL: it was the last. */
static char *take_field(char **at)
{
	char *start = skip_blanks(*at), *to = start;
	if (*start != '"') {
		char *end = start + strcspn(start, ",");
		*at = *end == ',' ? end + 1 : NULL;
		while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
			end--;
		*end = '\0';
		return start;
	}
	const char *from = start + 1;
	while (*from != '\0' && (*from != '"' || from[1] == '"')) {
		from += *from == '"';
		*to++ = *from++;
	}
	from = strchr(from, ',');
	*at = from == NULL ? NULL : (char *)from + 1;
	*to = '\0';
	return start;
}

/* Set the column of this name in the record of names. */
static int find_column(struct sl_csv *c, const char *column, struct sl_error *error)
{
	char *at = c->text, names[256] = "";
	if (strncmp(at, "\xef\xbb\xbf", 3) == 0) /* a mark of UTF-8 */
		at += 3;
	for (size_t i = 0; at != NULL && i < FIELDS_MAX; i++) {
		const char *name = take_field(&at);
		if (strcmp(name, column) == 0) {
			c->column = i;
			return SL_OK;
		}
		size_t used = strlen(names);
		snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", name);
	}
	return sl_err_set(error, SL_ERR_INVALID, "%s: there is no column '%s'; the columns are %s", c->path,
			  column, names);
}

int sl_csv_open(struct sl_csv *csv, const char *path, const char *column, struct sl_error *error)
{
	*csv = (struct sl_csv){.path = path, .file = fopen(path, "re")};
	if (csv->file == NULL)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	int rc = read_record(csv, error);
	if (rc == SL_PENDING || (rc == SL_OK && csv->text == NULL))
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
	while (rc == SL_OK && *skip_blanks(csv->text) == '\0'); /* an empty line */
	if (rc != SL_OK)
		return NULL;
	char *at = csv->text;
	for (size_t i = 0; i < csv->column && at != NULL; i++)
		take_field(&at);
	if (at != NULL)
		return take_field(&at);
	sl_err_set(error, SL_ERR_FORMAT, "%s:%u: the record has fewer than %zu fields", csv->path, csv->line,
		   csv->column + 1);
	return NULL;
}
