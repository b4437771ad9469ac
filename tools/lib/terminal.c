#include "tools/lib/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_LEAST 16u /* of a terminal; below, lines are not wrapped */

size_t sl_terminal_width(FILE *out)
{
	struct winsize size;
	if (!isatty(fileno(out)))
		return 0;
	return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : SL_WIDTH_USUAL;
}

/* Return how much of a line of `length` fits into `room` columns: up to the last space. A word longer than
 * the room is left to the terminal, whose line breaks are not copied with the text. */
static size_t fitting(const char *line, size_t length, size_t room)
{
	if (length <= room)
		return length;
	size_t at = room;
	while (at > 0 && line[at] != ' ')
		at--;
	return at > 0 ? at : strcspn(line, " \n");
}

static void fill_line(FILE *out, const char *line, size_t length, size_t width)
{
	size_t indent = strspn(line, " "), below = indent + 4;
	size_t n = indent < width ? indent + fitting(line + indent, length - indent, width - indent) : length;
	fprintf(out, "%.*s\n", (int)n, line);
	for (n += strspn(line + n, " "); n < length && below < width; n += strspn(line + n, " ")) {
		size_t more = fitting(line + n, length - n, width - below);
		fprintf(out, "%*s%.*s\n", (int)below, "", (int)more, line + n);
		n += more;
	}
}

void sl_terminal_fill(FILE *out, const char *text, size_t width)
{
	while (*text != '\0') {
		size_t length = strcspn(text, "\n");
		fill_line(out, text, length, width < WIDTH_LEAST ? SIZE_MAX : width);
		text += length + (text[length] == '\n');
	}
}

void sl_terminal_print(FILE *out, const char *format, ...)
{
	char *text = NULL;
	size_t width = sl_terminal_width(out);
	va_list args;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text != NULL)
		sl_terminal_fill(out, text, width > 0 ? width : SL_WIDTH_USUAL);
	free(text);
}

void sl_terminal_cut(char *text, size_t columns)
{
	if (strlen(text) <= columns)
		return;
	size_t at = columns - 1;
	while (at > 0 && text[at] != ' ')
		at--;
	if (at == 0)
		at = columns - 1;
	while (at > 0 && text[at - 1] == ' ')
		at--;
	strcpy(text + at, "…");
}

void sl_terminal_thousands(uint64_t number, char text[static SL_THOUSANDS_BYTES])
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
	for (int i = 0; i < n; i++) {
		*text++ = digits[i];
		if (i + 1 < n && (n - 1 - i) % 3 == 0)
			*text++ = ',';
	}
	*text = '\0';
}
