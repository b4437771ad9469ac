/* NetworkX edge lists: two names in each line, and data of the edge. */
#include <stdlib.h>
#include <string.h>

#include "tools/lib/command.h"
#include "tools/topology/import_parts.h"

#define WHEN_MAX 1e15 /* of a step or time in the data of an edge; whole numbers stay exact */

struct reader {
	struct sl_import_text *text;
	const struct sl_import_request *request;
	double when; /* step or time, unless the edges have their own */
	struct sl_import_names *names;
	struct sl_contacts *contacts;
};

static void keep(struct sl_contacts *c, struct sl_contact contact)
{
	c->contact = sl_command_grow(c->contact, c->count, &c->room, sizeof contact);
	c->contact[c->count++] = contact;
}

/* Cut off the next word, without the blanks around it. */
static char *next_word(char **rest, const char *between)
{
	char *word = *rest + strspn(*rest, " \t"), *end = word + strcspn(word, between);
	*rest = *end != '\0' ? end + 1 : end;
	while (end > word && strchr(" \t", end[-1]) != NULL)
		end--;
	*end = '\0';
	return word;
}

/* Return the number after 'key': or "key": in a Python dictionary, NULL without the key. */
static char *value_of(char *data, const char *key)
{
	size_t length = strlen(key);
	for (char *at = data; (at = strstr(at, key)) != NULL; at += length) {
		char quote = at > data ? at[-1] : '\0', *end = at + length;
		if ((quote != '\'' && quote != '"') || *end != quote)
			continue;
		end += 1 + strspn(end + 1, " \t");
		if (*end != ':')
			continue;
		end += 1 + strspn(end + 1, " \t'\"");
		end[strcspn(end, ",}'\" \t")] = '\0';
		return end;
	}
	return NULL;
}

static char *word_at(char *rest, const char *between, uint32_t column)
{
	char *word = NULL;
	for (uint32_t c = 3; c <= column; c++)
		word = next_word(&rest, between);
	return word;
}

static int read_when(const struct reader *r, char *rest, const char *between, double *when)
{
	char by[40];
	const char *key = r->request->by, *word;
	uint32_t column = r->request->by_column;
	*when = r->when;
	if (key == NULL && column == 0)
		return SL_OK;
	word = key != NULL ? value_of(rest, key) : word_at(rest, between, column);
	if (key != NULL)
		snprintf(by, sizeof by, "'%.30s'", key);
	else
		snprintf(by, sizeof by, "column %u", column);
	if (word == NULL || *word == '\0')
		return sl_import_text_fail(r->text, "the edge has no %s that says its step", by);
	if (!sl_import_text_number(word, WHEN_MAX, when))
		return sl_import_text_fail(r->text, "%s, \"%.40s\", is no step or time up to %g", by, word,
					   WHEN_MAX);
	return SL_OK;
}

static int read_line(const struct reader *r, char *line)
{
	struct sl_contact contact;
	line[strcspn(line, "#")] = '\0';
	line += strspn(line, " \t");
	if (*line == '\0')
		return SL_OK;
	const char *between = line[strcspn(line, " \t,")] == ',' ? "," : " \t";
	char *rest = line, *from = next_word(&rest, between), *to = next_word(&rest, between);
	if (*from == '\0' || *to == '\0')
		return sl_import_text_fail(r->text, "\"%.40s\" is half an edge; one reads \"u v\"",
					   *from ? from : to);
	if (strchr(from, ',') != NULL || strchr(to, ',') != NULL)
		return sl_import_text_fail(
			r->text, "\"%.40s\" has a comma: are blanks part of the names? They cannot be here",
			strchr(from, ',') != NULL ? from : to);
	int rc = sl_import_name(r->text, r->names, from, strlen(from), &contact.edge.a);
	if (rc == SL_OK)
		rc = sl_import_name(r->text, r->names, to, strlen(to), &contact.edge.b);
	if (rc == SL_OK)
		rc = read_when(r, rest, between, &contact.when);
	if (rc == SL_OK)
		keep(r->contacts, contact);
	return rc;
}

int sl_import_edges(struct sl_import_text *text, const struct sl_import_request *request, double when,
		    struct sl_import_names *names, struct sl_contacts *contacts)
{
	struct reader r = {text, request, when, names, contacts};
	int rc = SL_OK;
	for (char *line; rc == SL_OK && (line = sl_import_text_line(text)) != NULL;)
		rc = read_line(&r, line);
	return rc;
}
