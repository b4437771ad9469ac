#include "tools/topology/import_text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tools/lib/command.h"

#define READ_LEAST 65536u

static int unreadable(const struct sl_import_text *text, gzFile file)
{
	int code = Z_OK;
	const char *why = gzerror(file, &code);
	if (code == Z_ERRNO)
		why = strerror(errno);
	return sl_err_set(text->error, SL_ERR_IO, "%s: cannot be read: %s", text->name, why);
}

static int unpack(struct sl_import_text *text, gzFile file, size_t bytes_max)
{
	size_t room = 0;
	for (int got = 1; got > 0; text->count += (size_t)got) {
		text->bytes = sl_command_grow(text->bytes, text->count + READ_LEAST, &room, 1);
		size_t want = room - 1 - text->count; /* a zero byte ends the last line */
		got = gzread(file, text->bytes + text->count, want < (1u << 30) ? (unsigned)want : 1u << 30);
		if (got < 0)
			return unreadable(text, file);
		if (text->count + (size_t)got > bytes_max)
			return sl_err_set(text->error, SL_ERR_FORMAT, "%s: more than %zu MB of text",
					  text->name, bytes_max >> 20);
	}
	return SL_OK;
}

static size_t line_of(const struct sl_import_text *text, size_t at)
{
	size_t line = 1;
	for (size_t i = 0; i < at; i++)
		line += text->bytes[i] == '\n';
	return line;
}

/* Of ASCII, or of the second block of Unicode as UTF-8 writes it. */
static bool control(const unsigned char *byte, bool last)
{
	if (*byte < 0x20)
		return *byte != '\n' && *byte != '\r' && *byte != '\t';
	return *byte == 0x7f || (*byte == 0xc2 && !last && byte[1] >= 0x80 && byte[1] < 0xa0);
}

/* Refuse control characters, since messages and schedules quote the text. Carriage returns and a byte order
 * mark become blanks. */
static int check(struct sl_import_text *text)
{
	unsigned char *bytes = (unsigned char *)text->bytes;
	for (size_t i = 0; i < text->count; i++) {
		if (control(&bytes[i], i + 1 == text->count)) {
			text->line = line_of(text, i);
			return sl_import_text_fail(text, "a byte 0x%02x: not a text file", bytes[i]);
		}
		if (bytes[i] == '\r')
			bytes[i] = ' ';
	}
	bytes[text->count] = '\0';
	if (text->count >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		memset(bytes, ' ', 3);
	return SL_OK;
}

static gzFile open_file(const char *name)
{
	int fd = strcmp(name, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
					: open(name, O_RDONLY | O_CLOEXEC);
	gzFile file = fd >= 0 ? gzdopen(fd, "rb") : NULL;
	if (fd >= 0 && file == NULL)
		close(fd);
	return file;
}

int sl_import_text_read(struct sl_import_text *text, const char *name, size_t bytes_max,
			struct sl_error *error)
{
	*text = (struct sl_import_text){.name = strcmp(name, "-") == 0 ? "standard input" : name,
					.error = error};
	gzFile file = open_file(name);
	if (file == NULL)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", text->name, strerror(errno));
	int rc = unpack(text, file, bytes_max);
	if (gzclose(file) != Z_OK && rc == SL_OK)
		rc = sl_err_set(error, SL_ERR_IO, "%s: ends within the compressed data", text->name);
	if (rc == SL_OK)
		rc = check(text);
	if (rc != SL_OK)
		sl_import_text_close(text);
	return rc;
}

void sl_import_text_close(struct sl_import_text *text)
{
	free(text->bytes);
	text->bytes = NULL;
	text->count = 0;
}

char *sl_import_text_line(struct sl_import_text *text)
{
	if (text->at >= text->count)
		return NULL;
	char *line = text->bytes + text->at;
	size_t length = strcspn(line, "\n"); /* or where it was cut before */
	line[length] = '\0';
	text->at += length + 1;
	text->line++;
	return line;
}

int sl_import_text_fail(const struct sl_import_text *text, const char *format, ...)
{
	char what[SL_ERROR_BYTES / 2];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	return sl_err_set(text->error, SL_ERR_FORMAT, "%s:%zu: %s", text->name, text->line, what);
}

bool sl_import_text_number(const char *word, double most, double *number)
{
	char *end = NULL;
	if (*word == '\0' ||
	    word[strspn(word, "0123456789+-.eE")] != '\0') /* strtod takes "nan" and "0x1" too */
		return false;
	*number = strtod(word, &end);
	return *end == '\0' && fabs(*number) <= most;
}
