/* suggest.h - "did you mean": the word of a list that a misspelt one was meant to be. */
#pragma once

#include <stddef.h>
#include <string.h>

#define SL_NEAREST_BYTES 32u /* longer words are never suggested */

/* Edit distance of two words shorter than SL_NEAREST_BYTES, one row at a time. */
static inline size_t sl_suggest_distance(const char *a, const char *b)
{
	size_t row[SL_NEAREST_BYTES + 1], n = strlen(b);
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		size_t corner = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t change = corner + (a[i - 1] != b[j - 1]);
			size_t skip = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
			corner = row[j];
			row[j] = change < skip ? change : skip;
		}
	}
	return row[n];
}

/* Keeps in *best the candidate nearest to word, if few of its letters differ; start with *best NULL and
 * *distance SIZE_MAX. */
static inline void sl_suggest(const char *word, const char *candidate, const char **best, size_t *distance)
{
	size_t letters = strlen(word);
	if (letters >= SL_NEAREST_BYTES || strlen(candidate) >= SL_NEAREST_BYTES)
		return;
	size_t d = sl_suggest_distance(word, candidate);
	if (d > 1 + letters / 4 || d >= letters || d >= *distance)
		return;
	*best = candidate;
	*distance = d;
}
