/* ids.h - lists of learners in a sentence, by their ids. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#define SL_IDS_MOST 8u /* named in a sentence; JSON has them all */

/* Write "3", "3 and 5", "3, 5 and 7"; of more than SL_IDS_MOST ids the first ones, "1, 2, 3, ... and 12
 * more". Vertex v is learner v + 1. */
void sl_ids_write(FILE *out, const uint32_t *vertices, size_t count);

/* Write "learner 3", "learners 3 and 5". */
void sl_ids_write_learners(FILE *out, const uint32_t *vertices, size_t count);
/* The same into `text`. */
void sl_ids_text(const uint32_t *vertices, size_t count, char *text, size_t size);
