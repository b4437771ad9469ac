/* excerpt.h - the records of one learner of one round, as the page shows them beside the graph. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sl_web_excerpt {
	json_t *records; /* array of {"time","level","event","text","round"}; the caller's */
	uint64_t round;	 /* 0: all */
	int level;	 /* the least severe */
	size_t most;
	bool within; /* the last record with a round was of this one */
};

void sl_web_excerpt_init(struct sl_web_excerpt *excerpt, uint64_t round, int level, size_t most);
/* Keep `record`, the next of the learner's log, if it is of the round, or of no round and between records
 * that are. Only the last `most` stay. A sl_web_take_fn; `context` is the excerpt. */
void sl_web_excerpt_take(void *context, const json_t *record);
