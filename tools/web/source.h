/* source.h - where the records of a page come from: the logs of a run folder (tail.h) or learners that are
 * asked over HTTP (follow.h). */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Take one record, which is borrowed for the call. */
typedef void sl_web_take_fn(void *context, const json_t *record);

struct sl_web_source {
	void *from;
	/* Hand over all records that were not handed over; return their number. Does not block. */
	size_t (*read)(void *from, sl_web_take_fn *take, void *context);
	/* Return the records of `learner` of `round`, and those of no round between them, as a new array of
	 * {"time","level","event","text","round"}: at most `most`, the last ones. `level`: the least severe.
	 */
	json_t *(*log)(void *from, uint64_t learner, uint64_t round, int level, size_t most);
	/* Return true if a learner runs. */
	bool (*running)(void *from);
};
