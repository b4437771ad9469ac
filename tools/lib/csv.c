#include "tools/lib/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void sl_csv_open(struct sl_csv *csv, FILE *out, const char *names)
{
	*csv = (struct sl_csv){out, 0};
	if (names != NULL)
		fprintf(out, "%s\r\n", names);
}

static void next(struct sl_csv *csv)
{
	if (csv->column++ > 0)
		fputc(',', csv->out);
}

void sl_csv_text(struct sl_csv *csv, const char *text)
{
	next(csv);
	if (strpbrk(text, ",\"\r\n") == NULL) {
		fputs(text, csv->out);
		return;
	}
	fputc('"', csv->out);
	for (; *text != '\0'; text++)
		fprintf(csv->out, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', csv->out);
}

void sl_csv_whole(struct sl_csv *csv, int64_t value)
{
	next(csv);
	fprintf(csv->out, "%" PRId64, value);
}

/* With as few digits as give the same bits back. */
void sl_csv_real(struct sl_csv *csv, double value)
{
	char text[32] = "";
	next(csv);
	if (!isfinite(value))
		return;
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fputs(text, csv->out);
}

void sl_csv_end(struct sl_csv *csv)
{
	fputs("\r\n", csv->out);
	csv->column = 0;
}
