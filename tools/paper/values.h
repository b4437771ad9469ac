/* values.h - the templates of the report: text with @name@ for values, in sections that begin with a line %a
 * for part a. */
#pragma once

#include "tools/paper/paper.h"

extern const char sl_values_report[], sl_values_figures[];

/* Write the sections of the parts that are wanted, and what stands before the first section. */
void sl_values_write(const struct sl_paper *r, const char *template, FILE *out);
