/* ids.h - lists of learners in a sentence, by their ids. */
#pragma once

#include <stdint.h>
#include <stdio.h>

/* Write "learner 3", "learners 3 and 5", "learners 3, 5 and 7"; of many the first ones, "learners 1, 2, 3,
 * ... and 12 more". Vertex v is learner v + 1. */
void sl_ids_text(const uint32_t *vertices, size_t count, char *text, size_t size);
