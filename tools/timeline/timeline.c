#include "tools/timeline/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/command.h"
#include "tools/timeline/document.h"
#include "tools/timeline/take.h"

struct sl_timeline *sl_timeline_new(void)
{
	struct sl_timeline *timeline = sl_command_memory(1, sizeof *timeline);
	timeline->start = INFINITY;
	return timeline;
}

void sl_timeline_free(struct sl_timeline *timeline)
{
	if (timeline == NULL)
		return;
	sl_rounds_free(timeline);
	free(timeline);
}

void sl_timeline_name(struct sl_timeline *timeline, const char *run, uint64_t rounds)
{
	free(timeline->run);
	timeline->run = strdup(run);
	timeline->rounds_most = rounds > 0 ? rounds : timeline->rounds_most;
	timeline->version++;
	for (size_t i = 0; i < timeline->count; i++)
		timeline->rounds[i].version = timeline->version;
}

void sl_timeline_bound(struct sl_timeline *timeline, size_t parts)
{
	timeline->parts_most = parts;
}

bool sl_timeline_take(struct sl_timeline *timeline, const json_t *record)
{
	return sl_take_record(timeline, record);
}

json_t *sl_timeline_round_json(struct sl_timeline *timeline, uint64_t round)
{
	const struct sl_timeline_round *found = sl_rounds_find(timeline, round);
	return found != NULL ? sl_document_round(timeline, found) : NULL;
}

json_t *sl_timeline_run_json(struct sl_timeline *timeline)
{
	return sl_document_run(timeline);
}

uint64_t sl_timeline_version(const struct sl_timeline *timeline)
{
	return timeline->version;
}

uint64_t sl_timeline_changed_since(const struct sl_timeline *timeline, uint64_t version, uint64_t after)
{
	for (size_t i = sl_rounds_place(timeline, after + 1); i < timeline->count; i++)
		if (timeline->rounds[i].version > version)
			return timeline->rounds[i].t;
	return 0;
}

uint64_t sl_timeline_round_before(const struct sl_timeline *timeline, uint64_t before)
{
	size_t place = sl_rounds_place(timeline, before);
	return place > 0 ? timeline->rounds[place - 1].t : 0;
}

double sl_timeline_wall(const char *text)
{
	return sl_take_wall(text);
}
