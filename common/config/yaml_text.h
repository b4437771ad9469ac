/* yaml_text.h - checks of a YAML file's text that libfyaml does not make, and causes of errors that it states
 * badly. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"

#define SL_YAML_AMPERSANDS_MAX 1000u

/* Refuse bytes that are not UTF-8, a zero byte and directives: libfyaml does not return from a directive that
 * is not UTF-8. Refuse many '&', of which anchors begin: libfyaml compares each anchor with all before it.
 * Refuse four ' in a row: it loses the memory of a text with several. `path` is for the error. */
int sl_yaml_text_check(const char *path, const char *text, size_t bytes, struct sl_error *error);

/* Write `text`, which has no control characters, in double quotes. */
void sl_yaml_text_quote(FILE *out, const char *text);

/* Return the likely cause of a syntax error that libfyaml reports in line `*line`, or NULL; *line becomes its
 * line. `text` ends with a zero byte. */
const char *sl_yaml_text_cause(const char *text, int *line);
