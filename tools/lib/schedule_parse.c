/* The reader of the text form of a schedule, which schedule.h describes. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/schedule.h"

struct parser {
	const char *name;
	size_t line;
	struct sl_schedule *schedule;
	struct sl_edge *edges; /* of the step at hand */
	size_t count, room;
	struct sl_error *error;
};

static int fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct parser *p, const char *format, ...)
{
	char what[SL_ERROR_BYTES / 2];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	return sl_err_set(p->error, SL_ERR_FORMAT, "%s:%zu: %s", p->name, p->line, what);
}

/* Read a decimal number of at most 10 digits at *at. Return false when there is none. */
static bool number(const char **at, uint64_t *value)
{
	const char *start = *at;
	*value = 0;
	while (isdigit((unsigned char)**at) && *at - start < 10)
		*value = *value * 10 + (uint64_t)(*(*at)++ - '0');
	return *at > start;
}

static int read_learners(struct parser *p, const char *rest)
{
	uint64_t n;
	if (p->schedule->learners != 0)
		return fail(p, "\"learners\" is given a second time");
	if (rest == NULL || !number(&rest, &n) || *rest != '\0')
		return fail(p, "\"learners\" needs a number, as in \"learners 10\"");
	if (n < 2 || n > SL_LEARNERS_MAX)
		return fail(p, "%llu learners; must be 2 to %u", (unsigned long long)n, SL_LEARNERS_MAX);
	p->schedule->learners = (uint32_t)n;
	return SL_OK;
}

static int keep_edge(struct parser *p, uint32_t a, uint32_t b)
{
	if (p->count == p->room) {
		size_t room = p->room * 2 + 64;
		struct sl_edge *edges = reallocarray(p->edges, room, sizeof *edges);
		if (edges == NULL)
			return fail(p, "out of memory");
		p->edges = edges;
		p->room = room;
	}
	p->edges[p->count++] = (struct sl_edge){a - 1, b - 1};
	return SL_OK;
}

static int read_edge(struct parser *p, const char *word)
{
	const char *at = word;
	uint64_t a, b;
	uint32_t n = p->schedule->learners;
	if (!number(&at, &a) || *at++ != '-' || !number(&at, &b) || *at != '\0')
		return fail(p, "malformed edge \"%.40s\", expected ID-ID, as in 3-7", word);
	if (a < 1 || a > n || b < 1 || b > n)
		return fail(p, "edge %s: unknown learner %llu (learners are 1 to %u)", word,
			    (unsigned long long)(a < 1 || a > n ? a : b), n);
	if (a == b)
		return fail(p, "edge %s is a loop", word);
	return keep_edge(p, (uint32_t)a, (uint32_t)b);
}

static int read_step(struct parser *p, char **rest)
{
	p->count = 0;
	for (char *word; (word = strtok_r(NULL, " \t\r\n", rest)) != NULL;) {
		int rc = read_edge(p, word);
		if (rc != SL_OK)
			return rc;
	}
	if (sl_schedule_add(p->schedule, p->edges, p->count) != SL_OK)
		return fail(p, "out of memory");
	return SL_OK;
}

static int read_line(struct parser *p, char *line)
{
	char *comment = strchr(line, '#'), *rest = NULL;
	if (comment != NULL)
		*comment = '\0';
	char *word = strtok_r(line, " \t\r\n", &rest);
	if (word == NULL)
		return SL_OK;
	if (strcmp(word, "learners") == 0) {
		char *value = strtok_r(NULL, " \t\r\n", &rest);
		int rc = read_learners(p, value);
		if (rc == SL_OK && (word = strtok_r(NULL, " \t\r\n", &rest)) != NULL)
			return fail(p, "unexpected \"%.40s\" after \"learners %s\"", word, value);
		return rc;
	}
	if (strcmp(word, "step") != 0)
		return fail(p, "\"%.40s\" is neither \"learners\" nor \"step\"", word);
	if (p->schedule->learners == 0)
		return fail(p, "the first line must give the number of learners, as in \"learners 10\"");
	return read_step(p, &rest);
}

static int read_lines(struct parser *p, FILE *in)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t got;
	int rc = SL_OK;
	while (rc == SL_OK && (got = getline(&line, &room, in)) >= 0) {
		bool mark = p->line++ == 0 && strncmp(line, "\xef\xbb\xbf", 3) == 0; /* of the byte order */
		if (strlen(line) != (size_t)got)
			rc = fail(p, "a zero byte: not a text file");
		else if (line[got - 1] != '\n') /* an edge that was cut can be another one */
			rc = fail(p, "the file ends within this line: was it cut? if this is all, end the "
				     "line with a newline");
		else
			rc = read_line(p, mark ? line + 3 : line);
	}
	free(line);
	if (rc == SL_OK && ferror(in))
		return sl_err_set(p->error, SL_ERR_IO, "%s: %s", p->name, strerror(errno));
	return rc;
}

int sl_schedule_parse(FILE *in, const char *name, struct sl_schedule *schedule, struct sl_error *error)
{
	struct parser p = {.name = name, .schedule = schedule, .error = error};
	sl_schedule_init(schedule, 0);
	int rc = read_lines(&p, in);
	if (rc == SL_OK && schedule->steps == 0) {
		p.line += p.line == 0;
		rc = fail(&p, "the file has no step");
	}
	free(p.edges);
	if (rc != SL_OK)
		sl_schedule_close(schedule);
	return rc;
}

int sl_schedule_read(const char *path, struct sl_schedule *schedule, struct sl_error *error)
{
	FILE *in = fopen(path, "re");
	sl_schedule_init(schedule, 0);
	if (in == NULL)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	int rc = sl_schedule_parse(in, path, schedule, error);
	fclose(in);
	return rc;
}
