/* source.h - where the records of a page come from: log files, or learners that are asked over HTTP
 * (follow.h).
 */
#pragma once

#include <jansson.h>

#include "tools/lib/log_files.h"

struct sl_web_source {
	void *from;
	/* Hand over all records that were not handed over; return their number. Does not block. */
	size_t (*read)(void *from, sl_log_take_fn *take, void *context);
	/* Hand over the last records of a learner again. */
	void (*again)(void *from, uint64_t learner, sl_log_take_fn *take, void *context);
	/* Return true if a learner runs. */
	bool (*running)(void *from);
};

/* Return the source of a page; `files` stay the caller's. */
struct sl_web_source sl_web_source_files(struct sl_log_files *files);

/* Return the records of `learner` of `round`, 0: all, and those of no round between them, as a new array of
 * {"time","level","event","text","round"}: at most `most`, the last ones. `level`: the least severe. */
json_t *sl_web_source_log(const struct sl_web_source *source, uint64_t learner, uint64_t round, int level,
			  size_t most);
