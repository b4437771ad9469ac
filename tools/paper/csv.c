#include "tools/paper/csv.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void print_text(FILE *out, const char *text)
{
	if (strpbrk(text, ",\"\r\n") == NULL) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text != '\0'; text++)
		fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', out);
}

static void print_real(FILE *out, double value)
{
	char text[32] = "";
	for (int digits = 6; isfinite(value) && digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fputs(text, out);
}

void sl_csv_print(FILE *out, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	for (const char *at = format; *at != '\0'; at++) {
		if (*at == '\n')
			fputs("\r\n", out);
		else if (*at != '%')
			fputc(*at, out);
		else if (*++at == 's')
			print_text(out, va_arg(arguments, const char *));
		else if (*at == 'g')
			print_real(out, va_arg(arguments, double));
		else if (*at == 'u')
			fprintf(out, "%u", va_arg(arguments, unsigned));
		else {
			assert(strncmp(at, PRIu64, sizeof PRIu64 - 1) == 0);
			fprintf(out, "%" PRIu64, va_arg(arguments, uint64_t));
			at += sizeof PRIu64 - 2;
		}
	}
	va_end(arguments);
}
