#include "tools/topology/import_tracks.h"

#include <stdlib.h>

#include "tools/lib/command.h"

void sl_import_tracks_close(struct sl_import_tracks *tracks)
{
	for (uint32_t i = 0; i < tracks->count; i++)
		free(tracks->track[i].place);
	tracks->count = 0;
}

void sl_import_tracks_add(struct sl_track *track, struct sl_place place)
{
	track->place = sl_command_grow(track->place, track->count, &track->room, sizeof place);
	track->place[track->count++] = place;
}

/* Return the number of places at `t` or before. */
static size_t passed(const struct sl_track *track, double t)
{
	size_t from = 0, to = track->count;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (track->place[middle].t <= t)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

struct sl_place sl_import_tracks_at(const struct sl_track *track, double t)
{
	size_t next = passed(track, t);
	if (next == 0)
		return (struct sl_place){t, track->place[0].x, track->place[0].y};
	const struct sl_place *from = &track->place[next - 1], *to = &track->place[next];
	if (next == track->count)
		return (struct sl_place){t, from->x, from->y};
	double part = (t - from->t) / (to->t - from->t);
	return (struct sl_place){t, from->x + part * (to->x - from->x), from->y + part * (to->y - from->y)};
}

double sl_import_tracks_end(const struct sl_import_tracks *tracks)
{
	double end = 0;
	for (uint32_t i = 0; i < tracks->count; i++) {
		const struct sl_track *track = &tracks->track[i];
		if (track->count > 0 && track->place[track->count - 1].t > end)
			end = track->place[track->count - 1].t;
	}
	return end;
}

static size_t links_at(const struct sl_import_tracks *tracks, const uint32_t *vertex, double t,
		       double range_m, struct sl_place *place, struct sl_edge *edges)
{
	size_t count = 0;
	for (uint32_t i = 0; i < tracks->count; i++) {
		place[i] = sl_import_tracks_at(&tracks->track[i], t);
		for (uint32_t j = 0; j < i; j++) {
			double dx = place[i].x - place[j].x, dy = place[i].y - place[j].y;
			if (dx * dx + dy * dy <= range_m * range_m)
				edges[count++] = (struct sl_edge){vertex[i], vertex[j]};
		}
	}
	return count;
}

int sl_import_tracks_schedule(const struct sl_import_tracks *tracks, const uint32_t *vertex, double range_m,
			      double every_s, uint32_t steps, size_t links_max, struct sl_schedule *schedule)
{
	size_t n = tracks->count, links = 0;
	struct sl_place *place = sl_command_memory(n + 1, sizeof *place);
	struct sl_edge *edges = sl_command_memory(n * n / 2 + 1, sizeof *edges);
	int rc = SL_OK;
	for (uint32_t s = 0; rc == SL_OK && s < steps; s++) {
		size_t count = links_at(tracks, vertex, s * every_s, range_m, place, edges);
		links += count;
		rc = links > links_max ? SL_ERR_RANGE : sl_schedule_add(schedule, edges, count);
	}
	free(place);
	free(edges);
	return rc;
}
