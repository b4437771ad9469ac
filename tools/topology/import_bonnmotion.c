/* The native format of BonnMotion: one line for each node, with its positions in time. */
#include <string.h>

#include "tools/topology/import_parts.h"

struct reader {
	const struct sl_import_text *text;
	uint32_t numbers; /* for each place: t x y, or t x y z */
	struct sl_track *track;
};

static int add_place(const struct reader *r, const double *number)
{
	const struct sl_place place = {number[0], number[1], number[2]};
	const struct sl_track *track = r->track;
	const struct sl_place *last = track->count > 0 ? &track->place[track->count - 1] : NULL;
	if (place.t < 0)
		return sl_import_text_fail(r->text, "negative time %g", place.t);
	if (last != NULL && place.t < last->t)
		return sl_import_text_fail(r->text, "time decreases from %g to %g%s", last->t, place.t,
					   r->numbers == 3 ? " (a file with heights must begin with \"#3D\")"
							   : "");
	if (last != NULL && place.t == last->t && (place.x != last->x || place.y != last->y))
		return sl_import_text_fail(r->text, "two places at time %g", place.t);
	sl_import_tracks_add(r->track, place);
	return SL_OK;
}

static int unlike_places(const struct reader *r, uint32_t count)
{
	bool heights = r->numbers == 3 && count % 4 == 0;
	return sl_import_text_fail(r->text, "%u numbers, which are no places \"t x y%s\"%s", count,
				   r->numbers == 4 ? " z" : "",
				   heights ? " (a file with heights must begin with \"#3D\")" : "");
}

static int read_places(const struct reader *r, char *line)
{
	double number[4];
	uint32_t count = 0;
	char *rest = NULL;
	for (char *word = strtok_r(line, " \t", &rest); word != NULL; word = strtok_r(NULL, " \t", &rest)) {
		bool time = count % r->numbers == 0;
		double most = time ? SL_TIME_MAX : SL_PLACE_MAX;
		if (!sl_import_text_number(word, most, &number[count % r->numbers]))
			return sl_import_text_fail(r->text, "\"%.40s\" is no %s up to %g", word,
						   time ? "time" : "coordinate", most);
		if (++count % r->numbers != 0)
			continue;
		int rc = add_place(r, number);
		if (rc != SL_OK)
			return rc;
	}
	return count % r->numbers == 0 ? SL_OK : unlike_places(r, count);
}

static int read_node(struct reader *r, char *line, struct sl_import_names *names,
		     struct sl_import_tracks *tracks)
{
	char name[SL_NAME_BYTES];
	uint32_t index;
	int length = snprintf(name, sizeof name, "%u", tracks->count);
	int rc = sl_import_name(r->text, names, name, (size_t)length, &index);
	if (rc != SL_OK)
		return rc;
	r->track = &tracks->track[tracks->count++];
	return read_places(r, line);
}

int sl_import_bonnmotion(struct sl_import_text *text, struct sl_import_names *names,
			 struct sl_import_tracks *tracks)
{
	struct reader r = {.text = text, .numbers = 3};
	int rc = SL_OK;
	for (char *line; rc == SL_OK && (line = sl_import_text_line(text)) != NULL;) {
		if (strncmp(line, "#3D", 3) == 0)
			r.numbers = 4;
		if (line[0] != '#' && line[strspn(line, " \t")] != '\0')
			rc = read_node(&r, line, names, tracks);
	}
	return rc;
}
