/* csv.h - a table for programs: RFC 4180, one header line, numbers that read back as the same bits. */
#pragma once

#include <stdio.h>
#include <stdint.h>

struct sl_csv {
	FILE *out; /* borrowed */
	uint32_t column;
};

/* Starts the table with its column names, separated by commas: "k,learner,value"; NULL: they come as a row of
 * texts. */
void sl_csv_open(struct sl_csv *csv, FILE *out, const char *names);

/* The next cell of the row. A number that is none stays empty. */
void sl_csv_text(struct sl_csv *csv, const char *text);
void sl_csv_whole(struct sl_csv *csv, int64_t value);
void sl_csv_real(struct sl_csv *csv, double value);
/* Ends the row. */
void sl_csv_end(struct sl_csv *csv);
