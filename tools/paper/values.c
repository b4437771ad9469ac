/* The templates report.md and figures.gp, and the values in them. */
#include "tools/paper/values.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char sl_values_report[] =
#include "tools/paper/report.md.inc"
	;

const char sl_values_figures[] =
#include "tools/paper/figures.gp.inc"
	;

static const struct sl_paper_value *find(const struct sl_paper *r, const char *name, size_t length)
{
	for (uint32_t i = 0; i < r->value_count; i++)
		if (strncmp(r->values[i].name, name, length) == 0 && r->values[i].name[length] == '\0')
			return &r->values[i];
	return NULL;
}

void sl_paper_value(struct sl_paper *r, const char *name, const char *format, ...)
{
	struct sl_paper_value *value = (struct sl_paper_value *)find(r, name, strlen(name));
	va_list arguments;
	if (value == NULL) {
		assert(r->value_count < SL_VALUES_MOST && strlen(name) < sizeof value->name);
		value = &r->values[r->value_count++];
		strcpy(value->name, name);
	} else {
		strcat(value->text, ", ");
	}
	size_t used = strlen(value->text), room = sizeof value->text - used;
	va_start(arguments, format);
	int length = vsnprintf(value->text + used, room, format, arguments);
	va_end(arguments);
	assert(length >= 0 && (size_t)length + sizeof ", " <= room);
}

static void write_line(const struct sl_paper *r, const char *line, const char *end, FILE *out)
{
	while (line < end) {
		size_t text = strcspn(line, "@\n");
		fwrite(line, 1, text, out);
		line += text + 1;
		if (line >= end)
			break;
		size_t length = strcspn(line, "@");
		const struct sl_paper_value *value = find(r, line, length);
		assert(value != NULL);
		fputs(value->text, out);
		line += length + 1;
	}
	fputc('\n', out);
}

void sl_values_write(const struct sl_paper *r, const char *template, FILE *out)
{
	bool wanted = true;
	for (const char *line = template, *end; *line != '\0'; line = end + 1) {
		end = strchr(line, '\n');
		if (*line == '%')
			wanted = sl_paper_wanted(r, line[1]);
		else if (wanted)
			write_line(r, line, end, out);
	}
}
