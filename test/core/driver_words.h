/* driver_words.h - the words of one cause of a script (driver.h), sorted by what they are. */
#pragma once

#include "test/core/driver.h"

#define WORDS_LIST_MAX 128u

enum words_list { PLAIN, OF, FROM, NAMES, BY, KEYS, SIZE, LISTS };

struct words {
	char head[64];	    /* those that are neither fields nor numbers: "link state", "mix done" */
	uint32_t field[26]; /* by letter; UINT32_MAX: not given */
	uint32_t list[LISTS][WORDS_LIST_MAX], count[LISTS];
};

/* Read `cause`, which is cut into words. */
void words_read(const struct driver *p, char *cause, struct words *w);
/* Add to a list all learners that the test plays but `but`; to NAMES also learner 1. */
void words_add_all(const struct driver *p, struct words *w, enum words_list list, sl_id but);
/* Return the number behind a letter, or the first number of a list; `missing` if there is none. */
uint32_t words_field(const struct words *w, char letter, uint32_t missing);
uint32_t words_single(const struct words *w, enum words_list list, uint32_t missing);
/* Return the index of the first of `count` names with which `text` begins, or `count`. */
uint32_t words_find(const char *const *names, uint32_t count, const char *text);
