#include "test/core/driver_words.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const list_names[LISTS] = {NULL, "of", "from", "names", "by", "keys", "size"};

void words_add_all(const struct driver *p, struct words *w, enum words_list list, sl_id but)
{
	for (sl_id id = 2 - (list == NAMES); id <= p->config.roster_size; id++)
		if (id != but)
			w->list[list][w->count[list]++] = id;
}

uint32_t words_find(const char *const *names, uint32_t count, const char *text)
{
	uint32_t k = 0;
	while (k < count && (names[k] == NULL || strncmp(text, names[k], strlen(names[k])) != 0))
		k++;
	return k;
}

void words_read(const struct driver *p, char *cause, struct words *w)
{
	char *rest = NULL;
	enum words_list list = PLAIN;
	memset(w, 0, sizeof *w);
	memset(w->field, 0xff, sizeof w->field);
	for (char *word = strtok_r(cause, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
		assert_true(w->count[list] < WORDS_LIST_MAX);
		uint32_t other =
			strcmp(w->head, "durable") == 0 ? LISTS : words_find(list_names, LISTS, word);
		if (other != LISTS) {
			list = other;
		} else if (isdigit(word[0]) || word[0] == '+' || word[0] == '-') {
			w->list[list][w->count[list]++] = (uint32_t)strtol(word, NULL, 10);
			list = list == OF || list == BY || list == SIZE ? PLAIN : list;
		} else if (strcmp(word, "all") == 0) {
			words_add_all(p, w, list, 0);
		} else if (islower(word[0]) && isdigit(word[1])) {
			w->field[word[0] - 'a'] = (uint32_t)strtoul(word + 1, NULL, 10);
		} else {
			strcat(w->head, w->head[0] != 0 ? " " : "");
			strcat(w->head, word);
		}
	}
}

uint32_t words_field(const struct words *w, char letter, uint32_t missing)
{
	uint32_t value = w->field[letter - 'a'];
	return value == UINT32_MAX ? missing : value;
}

uint32_t words_single(const struct words *w, enum words_list list, uint32_t missing)
{
	return w->count[list] == 0 ? missing : w->list[list][0];
}
