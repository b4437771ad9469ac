#include "tools/topology/import.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/command.h"
#include "tools/topology/import_parts.h"

static const char *const format_names[] = {
	[SL_IMPORT_GUESS] = "guess",
	[SL_IMPORT_EDGES] = "edges",
	[SL_IMPORT_BONNMOTION] = "bonnmotion",
	[SL_IMPORT_NS2] = "ns2",
};

const char *sl_import_format_name(enum sl_import_format format)
{
	return format_names[format];
}

enum sl_import_format sl_import_format_find(const char *name)
{
	for (enum sl_import_format f = SL_IMPORT_EDGES; f < SL_IMPORT_FORMATS; f++)
		if (strcmp(format_names[f], name) == 0)
			return f;
	return SL_IMPORT_FORMATS;
}

/* Name the first file in an error that concerns all of them. */
static int rejection_first(const struct sl_import_request *q, struct sl_error *error)
{
	return sl_err_wrap(error, "%s", strcmp(q->files[0], "-") == 0 ? "standard input" : q->files[0]);
}

int sl_import_name(const struct sl_import_text *text, struct sl_import_names *names, const char *name,
		   size_t length, uint32_t *index)
{
	int rc = sl_import_names_index(names, name, length, index);
	if (rc == SL_ERR_RANGE)
		return sl_import_text_fail(text, "\"%.40s...\": a name of more than %u bytes", name,
					   SL_NAME_BYTES - 1);
	if (rc == SL_ERR_FULL)
		return sl_import_text_fail(text, "node %u, \"%.*s\", is one too many", SL_LEARNERS_MAX + 1,
					   (int)length, name);
	return SL_OK;
}

/* Return the number of words in a line of numbers, 0 when one is no number. BonnMotion writes times with a
 * point. */
static uint32_t numbers_in(const char *line, bool *pointed)
{
	uint32_t count = 0;
	size_t length;
	*pointed = false;
	for (; *(line += strspn(line, " \t")) != '\0'; line += length, count++) {
		length = strcspn(line, " \t");
		if (strspn(line, "0123456789+-.eE") != length)
			return 0;
		*pointed |= count == 0 && memchr(line, '.', length) != NULL;
	}
	return count;
}

enum sl_import_format sl_import_guess(struct sl_import_text *text)
{
	enum sl_import_format format = SL_IMPORT_GUESS;
	struct sl_import_text peek = *text;
	for (char *line; format == SL_IMPORT_GUESS && (line = sl_import_text_line(&peek)) != NULL;) {
		bool pointed;
		line += strspn(line, " \t");
		if (strncmp(line, "#3D", 3) == 0)
			format = SL_IMPORT_BONNMOTION;
		else if (*line == '$' || strncmp(line, "set ", 4) == 0)
			format = SL_IMPORT_NS2;
		else if (*line != '\0' && *line != '#')
			format =
				numbers_in(line, &pointed) >= 3 && (pointed || numbers_in(line, &pointed) > 4)
					? SL_IMPORT_BONNMOTION
					: SL_IMPORT_EDGES;
	}
	return format;
}

/* ---- edge lists ---- */

/* Return whether the edges have a step or time; else each file is a step, even without an edge. */
static bool timed(const struct sl_import_request *q)
{
	return q->by != NULL || q->by_column != 0;
}

static int in_time(const void *left, const void *right)
{
	const struct sl_contact *a = left, *b = right;
	return (a->when > b->when) - (a->when < b->when);
}

/* Add one step: the contacts of one time, from *at on. */
static int add_step(const struct sl_contacts *c, size_t *at, double when, const uint32_t *vertex,
		    struct sl_edge *edges, struct sl_schedule *schedule)
{
	size_t count = 0;
	for (; *at < c->count && c->contact[*at].when == when; ++*at) {
		const struct sl_edge *named = &c->contact[*at].edge;
		struct sl_edge e = {vertex[named->a], vertex[named->b]};
		if (e.a != e.b)
			edges[count++] = e;
	}
	return sl_schedule_add(schedule, edges, count);
}

static int add_steps(const struct sl_import_request *request, const struct sl_contacts *c,
		     const uint32_t *vertex, struct sl_schedule *schedule)
{
	bool by_time = timed(request);
	size_t at = 0, most = request->steps != 0 ? request->steps : SIZE_MAX;
	struct sl_edge *edges = sl_command_memory(c->count + 1, sizeof *edges);
	int rc = SL_OK;
	if (!by_time && request->count < most)
		most = request->count;
	while (rc == SL_OK && schedule->steps < most && (at < c->count || !by_time)) {
		double when = by_time ? c->contact[at].when : schedule->steps;
		rc = schedule->steps == SL_IMPORT_STEPS_MAX ? SL_ERR_RANGE
							    : add_step(c, &at, when, vertex, edges, schedule);
	}
	free(edges);
	return rc;
}

static int contacts_schedule(const struct sl_import_request *request, struct sl_contacts *contacts,
			     const uint32_t *vertex, struct sl_schedule *schedule, struct sl_error *error)
{
	qsort(contacts->contact, contacts->count, sizeof *contacts->contact, in_time);
	int rc = add_steps(request, contacts, vertex, schedule);
	if (rc == SL_ERR_RANGE)
		return sl_err_set(error, SL_ERR_FORMAT, "more than %u steps: use --steps to keep the first",
				  SL_IMPORT_STEPS_MAX);
	return rc == SL_OK ? SL_OK : sl_err_set(error, rc, "%s", sl_err_text(rc));
}

/* ---- movements ---- */

static int count_steps(const struct sl_import_request *request, double every_s, double end_s, uint32_t *steps,
		       struct sl_error *error)
{
	double count = floor(end_s / every_s + 1e-9) + 1;
	if (request->steps != 0 && count > request->steps)
		count = request->steps;
	if (count > SL_IMPORT_STEPS_MAX)
		return sl_err_set(
			error, SL_ERR_FORMAT,
			"%g s of movement are more than %u steps of %g s: use a longer --every, or --steps",
			end_s, SL_IMPORT_STEPS_MAX, every_s);
	*steps = (uint32_t)count;
	return SL_OK;
}

static int tracks_schedule(const struct sl_import_request *request, const struct sl_import_tracks *tracks,
			   const uint32_t *vertex, struct sl_schedule *schedule, struct sl_error *error)
{
	uint32_t steps = 0;
	double every_s = request->every_s > 0 ? request->every_s : SL_IMPORT_EVERY_S;
	int rc = count_steps(request, every_s, sl_import_tracks_end(tracks), &steps, error);
	if (rc != SL_OK)
		return rc;
	rc = sl_import_tracks_schedule(tracks, vertex, request->range_m, every_s, steps, SL_IMPORT_LINKS_MAX,
				       schedule);
	if (rc == SL_ERR_RANGE)
		return sl_err_set(error, SL_ERR_FORMAT,
				  "more than %u links in all: use a longer --every, or --steps",
				  SL_IMPORT_LINKS_MAX);
	return rc == SL_OK ? SL_OK : sl_err_set(error, rc, "%s", sl_err_text(rc));
}

/* ---- files ---- */

struct reading {
	const struct sl_import_request *request;
	struct sl_import *import;
	struct sl_contacts contacts;
	struct sl_import_tracks *tracks;
};

/* Refuse options that do not fit the format. */
static int check_options(const struct sl_import_request *q, enum sl_import_format format,
			 struct sl_error *error)
{
	const char *force =
		q->format != SL_IMPORT_GUESS ? "" : " (if the format is another, give it with --format)";
	const char *name = format_names[format];
	bool edges = format == SL_IMPORT_EDGES;
	if (edges && (q->range_m > 0 || q->every_s > 0))
		sl_err_set(error, SL_ERR_INVALID, "an edge list takes no --%s%s",
			   q->range_m > 0 ? "range" : "every", force);
	else if (!edges && timed(q))
		sl_err_set(error, SL_ERR_INVALID, "a movement (%s) takes no --by%s", name, force);
	else if (!edges && q->count > 1)
		sl_err_set(error, SL_ERR_INVALID, "a movement (%s) is one file, not %zu%s", name, q->count,
			   force);
	else if (!edges && !(q->range_m > 0))
		sl_err_set(error, SL_ERR_INVALID,
			   "a movement (%s) needs --range, the reach of a link in metres%s", name, force);
	else
		return SL_OK;
	return rejection_first(q, error);
}

static bool is_schedule(struct sl_import_text text)
{
	uint32_t n;
	for (char *line; (line = sl_import_text_line(&text)) != NULL;) {
		line += strspn(line, " \t");
		if (*line != '#' && *line != '\0')
			return sscanf(line, "learners %u", &n) == 1;
	}
	return false;
}

/* Take the format of all files from the first that is not empty. */
static int settle(struct reading *r, struct sl_import_text *text)
{
	enum sl_import_format *format = &r->import->format;
	if (*format == SL_IMPORT_GUESS && is_schedule(*text))
		return sl_err_set(text->error, SL_ERR_FORMAT, "%s: is a schedule already and needs no import",
				  text->name);
	if (*format != SL_IMPORT_GUESS)
		return SL_OK;
	*format = sl_import_guess(text);
	return *format == SL_IMPORT_GUESS ? SL_OK : check_options(r->request, *format, text->error);
}

static int read_file(struct reading *r, size_t i, struct sl_error *error)
{
	struct sl_import_text text;
	struct sl_import_names *names = r->import->names;
	int rc = sl_import_text_read(&text, r->request->files[i], SL_IMPORT_BYTES_MAX, error);
	if (rc != SL_OK)
		return rc;
	rc = settle(r, &text);
	if (rc == SL_OK && r->import->format == SL_IMPORT_EDGES)
		rc = sl_import_edges(&text, r->request, (double)i, names, &r->contacts);
	else if (rc == SL_OK && r->import->format == SL_IMPORT_BONNMOTION)
		rc = sl_import_bonnmotion(&text, names, r->tracks);
	else if (rc == SL_OK && r->import->format == SL_IMPORT_NS2)
		rc = sl_import_ns2(&text, names, r->tracks);
	sl_import_text_close(&text);
	return rc;
}

static int read_files(struct reading *r, struct sl_error *error)
{
	const struct sl_import_request *q = r->request;
	int rc = q->format != SL_IMPORT_GUESS ? check_options(q, q->format, error) : SL_OK;
	for (size_t i = 0; rc == SL_OK && i < q->count; i++)
		rc = read_file(r, i, error);
	return rc;
}

static int make_schedule(struct reading *r, struct sl_error *error)
{
	uint32_t vertex[SL_LEARNERS_MAX];
	struct sl_import_names *names = r->import->names;
	struct sl_schedule *schedule = &r->import->schedule;
	if (names->count < 2)
		return sl_err_set(error, SL_ERR_FORMAT, "%s; a schedule needs two or more",
				  names->count == 0 ? "no node" : "one node");
	sl_import_names_sort(names, vertex);
	sl_schedule_init(schedule, names->count);
	if (r->import->format == SL_IMPORT_EDGES)
		return contacts_schedule(r->request, &r->contacts, vertex, schedule, error);
	return tracks_schedule(r->request, r->tracks, vertex, schedule, error);
}

int sl_import(const struct sl_import_request *request, struct sl_import *import, struct sl_error *error)
{
	struct reading r = {.request = request, .import = import};
	*import = (struct sl_import){.format = request->format,
				     .names = sl_command_memory(1, sizeof *import->names)};
	r.tracks = sl_command_memory(1, sizeof *r.tracks);
	int rc = read_files(&r, error);
	if (rc == SL_OK && make_schedule(&r, error) != SL_OK)
		rc = rejection_first(request, error);
	sl_import_tracks_close(r.tracks);
	free(r.tracks);
	free(r.contacts.contact);
	if (rc != SL_OK)
		sl_import_close(import);
	return rc;
}

void sl_import_close(struct sl_import *import)
{
	sl_schedule_close(&import->schedule);
	free(import->names);
	import->names = NULL;
}
