/* rows.h - one row of figures of a round, and one of each learner in it, from the round's document
 * (tools/timeline). Pure. Units: seconds, bytes. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* Return the figures of a round as a new object: round, start, seconds, attempts, participants, edges,
 * mixing, exchanges, tolerance, cut_vertices, bytes_sent, loss, mse, same, slowest, slowest_phase,
 * slowest_s. A figure that is not known is null. */
json_t *sl_web_rows_round(const json_t *document);

/* Write the first line of rounds.csv, or the row of one round. */
void sl_web_rows_csv_rounds_head(FILE *out);
void sl_web_rows_csv_round(FILE *out, const json_t *row);
/* Write the first line of learners.csv, or the rows of all learners of a round. */
void sl_web_rows_csv_learners_head(FILE *out);
void sl_web_rows_csv_learners(FILE *out, const json_t *document);
