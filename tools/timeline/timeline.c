#include "tools/timeline/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "tools/lib/command.h"

struct round {
	uint64_t t, version;
};

struct learner {
	uint64_t id;
	char name[SL_NAME_BYTES];
};

struct sl_timeline {
	char *run;
	uint64_t rounds_most; /* T; 0: not known */
	struct round *rounds; /* ascending */
	size_t count, room;
	struct learner *learners; /* ascending by id */
	size_t learner_count, learner_room;
	uint64_t version;
};

struct sl_timeline *sl_timeline_new(void)
{
	return sl_command_memory(1, sizeof(struct sl_timeline));
}

void sl_timeline_free(struct sl_timeline *timeline)
{
	if (timeline == NULL)
		return;
	free(timeline->run);
	free(timeline->rounds);
	free(timeline->learners);
	free(timeline);
}

void sl_timeline_name(struct sl_timeline *timeline, const char *run, uint64_t rounds)
{
	free(timeline->run);
	timeline->run = strdup(run);
	timeline->rounds_most = rounds;
	timeline->version++;
}

/* Return the place of round t, or where it belongs. */
static size_t place(const struct sl_timeline *timeline, uint64_t t)
{
	size_t low = 0, high = timeline->count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (timeline->rounds[middle].t < t)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct round *round_at(struct sl_timeline *timeline, uint64_t t)
{
	size_t at = place(timeline, t);
	if (at < timeline->count && timeline->rounds[at].t == t)
		return &timeline->rounds[at];
	timeline->rounds =
		sl_command_grow(timeline->rounds, timeline->count, &timeline->room, sizeof *timeline->rounds);
	memmove(&timeline->rounds[at + 1], &timeline->rounds[at],
		(timeline->count++ - at) * sizeof *timeline->rounds);
	timeline->rounds[at] = (struct round){.t = t};
	return &timeline->rounds[at];
}

bool sl_timeline_take(struct sl_timeline *timeline, const json_t *record)
{
	json_int_t id = json_integer_value(json_object_get(record, "learner")),
		   t = json_integer_value(json_object_get(record, "round"));
	if (json_integer_value(json_object_get(record, "v")) != SL_TIMELINE_SCHEMA || id <= 0)
		return false;
	timeline->version++;
	if (t > 0)
		round_at(timeline, (uint64_t)t)->version = timeline->version;
	return true;
}

json_t *sl_timeline_round_json(struct sl_timeline *timeline, uint64_t round)
{
	size_t at = place(timeline, round);
	if (at == timeline->count || timeline->rounds[at].t != round)
		return NULL;
	return json_pack("{s:i, s:s?, s:I, s:[], s:[], s:[], s:[], s:[]}", "v", 1, "run", timeline->run,
			 "round", (json_int_t)round, "learners", "attempts", "learners_of_round", "links",
			 "spread");
}

json_t *sl_timeline_run_json(struct sl_timeline *timeline)
{
	size_t n = timeline->count;
	return json_pack("{s:i, s:s?, s:I, s:I, s:[], s:[]}", "v", 1, "run", timeline->run, "first",
			 (json_int_t)(n > 0 ? timeline->rounds[0].t : 0), "last",
			 (json_int_t)(n > 0 ? timeline->rounds[n - 1].t : 0), "learners", "clocks");
}

uint64_t sl_timeline_version(const struct sl_timeline *timeline)
{
	return timeline->version;
}

uint64_t sl_timeline_changed_since(const struct sl_timeline *timeline, uint64_t version, uint64_t after)
{
	for (size_t i = place(timeline, after + 1); i < timeline->count; i++)
		if (timeline->rounds[i].version > version)
			return timeline->rounds[i].t;
	return 0;
}
