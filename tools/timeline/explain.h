/* explain.h - a round document in plain sentences and a small table. */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* Print what happened in a round: `document` as sl_timeline_round_json makes it. */
void sl_explain_round(FILE *out, const json_t *document);
/* Print how far two clocks differ at least: `gap` as in a document, or NULL. `document` names the learners.
 */
void sl_explain_clocks(FILE *out, const json_t *document, const json_t *gap);
/* Write a number of bytes as "3.4 KB", "46.0 MB"; return `text`. */
const char *sl_explain_bytes(uint64_t n, char text[static 16]);
