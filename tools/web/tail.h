/* tail.h - the logs of a run folder, read to their ends and again as they grow.
 *
 * Reads FOLDER/log.jsonl and FOLDER/NAME/log.jsonl, file by file: the order of records is the caller's
 * affair. A log that was replaced or cut is read anew. Owns its descriptors and buffers. */
#pragma once

#include <jansson.h>

#include "common/base/err.h"
#include "common/base/types.h"
#include "tools/web/source.h"

struct sl_web_tail;

/* Open the logs of `folder`. SL_ERR_NOTFOUND: there is no such folder, or, unless `empty` is allowed, no log
 * in it. SL_ERR_IO. */
int sl_web_tail_open(struct sl_web_tail **tail, const char *folder, bool empty, struct sl_error *error);
void sl_web_tail_close(struct sl_web_tail *tail);

/* Hand over all whole lines that were not handed over; return their number. Lines that are not records are
 * left out. */
size_t sl_web_tail_read(struct sl_web_tail *tail, sl_web_take_fn *take, void *context);

/* As struct sl_web_source has it. */
json_t *sl_web_tail_log(struct sl_web_tail *tail, uint64_t learner, uint64_t round, int level, size_t most);

/* Return true if a learner of the folder listens on its control socket. */
bool sl_web_tail_running(struct sl_web_tail *tail);

/* Return the tail as the source of a page; the tail stays the caller's. */
struct sl_web_source sl_web_tail_source(struct sl_web_tail *tail);
