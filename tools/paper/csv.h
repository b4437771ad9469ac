/* csv.h - tables for programs: RFC 4180, numbers that read back as the same bits. */
#pragma once

#include <stdio.h>

/* Print `format` like fprintf, with other rules for its parts: %s is quoted where needed, %g has as many
 * digits as give the same number back and is empty for a number that is none, and a newline is CR LF. Only
 * plain %s, %g, %u and PRIu64 are known. */
void sl_csv_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
