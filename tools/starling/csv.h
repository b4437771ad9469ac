/* csv.h - a file of comma-separated values with a line of names. A field may stand in double quotes, in which
 * a doubled quote stands for one. A line ends with \n, \r\n or \r. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"

struct sl_csv {
	FILE *file;
	const char *path; /* borrowed */
	char *text;	  /* the present record; its fields are ended by zeros */
	size_t used, room;
	size_t fields;	/* of the present record */
	size_t columns; /* that the first line names: fields of each record */
	size_t column;	/* the field that is read */
	unsigned line;	/* of the record */
	bool empty;	/* the present line */
};

/* Open the file and find the column. Errors name the file; of an unknown column, also the columns that are
 * there. Two columns of the name are an error. */
int sl_csv_open(struct sl_csv *csv, const char *path, const char *column, struct sl_error *error);
void sl_csv_close(struct sl_csv *csv);
/* Return the field of the next record, without blanks around it; valid until the next call. NULL: the end, or
 * an error, which is then set: it names the line of a record with too few or too many fields. */
const char *sl_csv_next(struct sl_csv *csv, struct sl_error *error);
