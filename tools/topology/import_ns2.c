/* ns-2 movement traces: a place to start from, and from then on orders to go somewhere or to be somewhere
 * else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/command.h"
#include "tools/topology/import_parts.h"

enum order { GO, JUMP_X, JUMP_Y };

struct event {
	double t, x, y, speed; /* of a jump, x is its coordinate */
	uint32_t node;
	enum order order;
	size_t line;
};

struct reader {
	struct sl_import_text *text;
	struct sl_import_names *names;
	double (*start)[2]; /* of each node; NAN: not given */
	struct event *events;
	size_t count, room;
};

/* Read "$node_(12)": the node of the name 12. */
static int read_node(struct reader *r, const char *word, uint32_t *node)
{
	const char *open = strchr(word, '(');
	size_t digits = open != NULL ? strspn(open + 1, "0123456789") : 0;
	if (word[0] != '$' || digits == 0 || strcmp(open + 1 + digits, ")") != 0)
		return sl_import_text_fail(r->text, "\"%.40s\" is no node, as in $node_(0)", word);
	const char *name = open + 1;
	for (; digits > 1 && *name == '0'; digits--)
		name++;
	uint32_t before = r->names->count;
	int rc = sl_import_name(r->text, r->names, name, digits, node);
	if (rc == SL_OK && r->names->count > before)
		r->start[*node][0] = r->start[*node][1] = NAN;
	return rc;
}

static int keep(struct reader *r, const struct event *event)
{
	r->events = sl_command_grow(r->events, r->count, &r->room, sizeof *r->events);
	r->events[r->count++] = *event;
	return SL_OK;
}

/* Return the next word of an order, NULL after the last. */
static const char *word(char **rest)
{
	return strtok_r(NULL, " \t\";", rest);
}

static int read_number(const struct reader *r, const char *what, const char *text, double least, double most,
		       double *number)
{
	if (text == NULL)
		return sl_import_text_fail(r->text, "the %s is missing", what);
	if (!sl_import_text_number(text, most, number) || *number < least)
		return sl_import_text_fail(r->text, "\"%.40s\" is no %s from %g to %g", text, what, least,
					   most);
	return SL_OK;
}

static int read_metres(const struct reader *r, char **rest, double *metres)
{
	return read_number(r, "coordinate", word(rest), -SL_PLACE_MAX, SL_PLACE_MAX, metres);
}

static int read_end(const struct reader *r, char **rest)
{
	const char *more = word(rest);
	return more == NULL || *more == '#' ? SL_OK
					    : sl_import_text_fail(r->text, "unexpected \"%.40s\"", more);
}

/* Read "X_ 1.5"; *axis 2 is the height, which is not used. */
static int read_coordinate(const struct reader *r, char **rest, int *axis, double *value)
{
	static const char *const axes[] = {"X_", "Y_", "Z_"};
	const char *name = word(rest);
	for (*axis = 0; *axis < 3; ++*axis)
		if (name != NULL && strcmp(name, axes[*axis]) == 0)
			break;
	if (*axis == 3)
		return sl_import_text_fail(r->text, "\"set\" needs X_, Y_ or Z_ and a number");
	int rc = read_metres(r, rest, value);
	return rc == SL_OK ? read_end(r, rest) : rc;
}

static int read_go(struct reader *r, char **rest, struct event *event)
{
	int rc = read_metres(r, rest, &event->x);
	if (rc == SL_OK)
		rc = read_metres(r, rest, &event->y);
	if (rc == SL_OK)
		rc = read_number(r, "speed", word(rest), 0, SL_PLACE_MAX, &event->speed);
	if (rc == SL_OK)
		rc = read_end(r, rest);
	return rc == SL_OK ? keep(r, event) : rc;
}

static int read_jump(struct reader *r, char **rest, struct event *event)
{
	int axis;
	int rc = read_coordinate(r, rest, &axis, &event->x);
	if (rc != SL_OK || axis == 2)
		return rc;
	event->order = axis == 0 ? JUMP_X : JUMP_Y;
	return keep(r, event);
}

/* Read the rest of: $ns_ at 2.0 "$node_(0) setdest 10.0 20.0 1.5" */
static int read_order(struct reader *r, char **rest)
{
	struct event event = {.order = GO, .line = r->text->line};
	int rc = read_number(r, "time", strtok_r(NULL, " \t\"", rest), 0, SL_TIME_MAX, &event.t);
	if (rc != SL_OK)
		return rc;
	const char *object = word(rest);
	if (object != NULL && strncmp(object, "$god_", 5) == 0)
		return SL_OK;
	rc = read_node(r, object != NULL ? object : "", &event.node);
	if (rc != SL_OK)
		return rc;
	const char *verb = word(rest);
	if (verb != NULL && strcmp(verb, "setdest") == 0)
		return read_go(r, rest, &event);
	if (verb != NULL && strcmp(verb, "set") == 0)
		return read_jump(r, rest, &event);
	return sl_import_text_fail(r->text, "\"%.40s\" is neither \"setdest\" nor \"set\"",
				   verb != NULL ? verb : "");
}

/* Read the rest of: $node_(0) set X_ 1.0 */
static int read_start(struct reader *r, const char *object, const char *verb, char **rest)
{
	uint32_t node;
	int axis;
	double value;
	int rc = read_node(r, object, &node);
	if (rc != SL_OK)
		return rc;
	if (strcmp(verb, "set") != 0)
		return sl_import_text_fail(r->text, "\"%.40s\" is neither \"set\" nor \"at\"", verb);
	rc = read_coordinate(r, rest, &axis, &value);
	if (rc == SL_OK && axis < 2)
		r->start[node][axis] = value;
	return rc;
}

static int read_line(struct reader *r, char *line)
{
	char *rest = NULL;
	const char *object = strtok_r(line, " \t", &rest);
	if (object == NULL || object[0] == '#' || strncmp(object, "$god_", 5) == 0)
		return SL_OK;
	if (strcmp(object, "set") == 0) /* Tcl variables: "set val(nn) 50" */
		return SL_OK;
	const char *verb = strtok_r(NULL, " \t", &rest);
	if (object[0] != '$' || verb == NULL)
		return sl_import_text_fail(r->text, "an ns-2 movement has no line that begins with \"%.40s\"",
					   object);
	if (strcmp(verb, "at") == 0)
		return read_order(r, &rest);
	return read_start(r, object, verb, &rest);
}

static int in_time(const void *left, const void *right)
{
	const struct event *a = left, *b = right;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

/* Return the position of the node at the time of the order; an unfinished movement ends there. */
static struct sl_place cut(struct sl_track *track, double t)
{
	struct sl_place here = sl_import_tracks_at(track, t);
	if (track->place[track->count - 1].t > t)
		track->count--;
	return here;
}

static void play(struct sl_track *track, const struct event *event)
{
	struct sl_place here = cut(track, event->t);
	sl_import_tracks_add(track, here);
	if (event->order != GO) {
		*(event->order == JUMP_X ? &here.x : &here.y) = event->x;
		sl_import_tracks_add(track, here);
		return;
	}
	double way = hypot(event->x - here.x, event->y - here.y);
	if (way > 0 && event->speed > 0) /* at the end, or never */
		sl_import_tracks_add(track,
				     (struct sl_place){event->t + way / event->speed, event->x, event->y});
}

static int play_all(struct reader *r, struct sl_import_tracks *tracks)
{
	for (uint32_t i = 0; i < r->names->count; i++) {
		if (isnan(r->start[i][0]) || isnan(r->start[i][1]))
			return sl_err_set(r->text->error, SL_ERR_FORMAT,
					  "%s: node %s is never given its X_ and Y_", r->text->name,
					  r->names->name[i]);
		sl_import_tracks_add(&tracks->track[tracks->count++],
				     (struct sl_place){0, r->start[i][0], r->start[i][1]});
	}
	if (r->count > 0)
		qsort(r->events, r->count, sizeof *r->events, in_time);
	for (size_t i = 0; i < r->count; i++)
		play(&tracks->track[r->events[i].node], &r->events[i]);
	return SL_OK;
}

int sl_import_ns2(struct sl_import_text *text, struct sl_import_names *names, struct sl_import_tracks *tracks)
{
	struct reader r = {.text = text, .names = names};
	int rc = SL_OK;
	r.start = sl_command_memory(SL_LEARNERS_MAX, sizeof *r.start);
	for (char *line; rc == SL_OK && (line = sl_import_text_line(text)) != NULL;)
		rc = read_line(&r, line);
	if (rc == SL_OK)
		rc = play_all(&r, tracks);
	free(r.start);
	free(r.events);
	return rc;
}
