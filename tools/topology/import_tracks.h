/* import_tracks.h - positions of moving nodes: straight lines from place to place, at rest before the first
 * and after the last place.
 *
 * Metres and seconds. Owns its arrays.
 */
#pragma once

#include "tools/lib/schedule.h"

#define SL_PLACE_MAX 1e9 /* metres from the origin, either way */
#define SL_TIME_MAX 1e9	 /* seconds, thirty years */

struct sl_place {
	double t, x, y;
};

struct sl_track {
	struct sl_place *place; /* t never decreases; of two places at one time the later counts: a jump */
	size_t count, room;
};

struct sl_import_tracks {
	struct sl_track track[SL_LEARNERS_MAX];
	uint32_t count;
};

void sl_import_tracks_close(struct sl_import_tracks *tracks);

/* Append a place, not before the last one in time. */
void sl_import_tracks_add(struct sl_track *track, struct sl_place place);

/* Return the position at time `t`; the track must not be empty. */
struct sl_place sl_import_tracks_at(const struct sl_track *track, double t);

/* Return the time at which the last node comes to rest. */
double sl_import_tracks_end(const struct sl_import_tracks *tracks);

/* Add `steps` steps at t = 0, every_s, 2 every_s, ...; vertex[i] is the vertex of track i. Two nodes are
 * linked iff their distance is at most range_m. SL_ERR_RANGE: more than `links_max` links. */
int sl_import_tracks_schedule(const struct sl_import_tracks *tracks, const uint32_t *vertex, double range_m,
			      double every_s, uint32_t steps, size_t links_max, struct sl_schedule *schedule);
