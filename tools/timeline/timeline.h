/* timeline.h - the rounds of a run, from the log records of its learners.
 *
 *   records of all learners (files, control sockets) --> sl_timeline_take --> rounds x learners
 *                                                                                   |
 *                     starling logs, live page, report, CSV <-- one JSON document per round
 *
 * Every conclusion is drawn here: the learners that were awaited, the slowest learner and phase, cut
 * vertices, whether all models are the same. Records may come in any order, and more than once. Learners are
 * named by their ids. Times of a document are seconds since the first record of the run, as the clock of
 * each learner had them; how far clocks differ at least is told (clocks.h). Owns copies of what it needs of
 * the records; memory per round is bounded (rounds.h). Used by one thread.
 */
#pragma once

#include <jansson.h>

#include "common/base/limits.h"
#include "common/base/types.h"
#include "common/config/envelope.h"

#define SL_TIMELINE_SCHEMA SL_RECORDS_VERSION /* field v of the records that are read */

struct sl_timeline;

/* Return an empty timeline; the program ends if there is no memory. */
struct sl_timeline *sl_timeline_new(void);
/* Free the timeline; NULL is allowed. */
void sl_timeline_free(struct sl_timeline *timeline);

/* Set what no record says: the name of the run (copied), and its number of rounds; 0: not known. */
void sl_timeline_name(struct sl_timeline *timeline, const char *run, uint64_t rounds);

/* Keep only the last rounds: at most `parts` pairs of a round and a learner, and at least one round. A record
 * of a round that was dropped changes nothing. */
void sl_timeline_bound(struct sl_timeline *timeline, size_t parts);

/* Take up a log record (starling-log(5)). Return false, and ignore the record, if it is of another schema
 * version, has no learner or time, or is of one learner more than a roster can have. The caller keeps its
 * reference. */
bool sl_timeline_take(struct sl_timeline *timeline, const json_t *record);

/* Return the document of a round as a new object; NULL if no record is about this round. */
json_t *sl_timeline_round_json(struct sl_timeline *timeline, uint64_t round);

/* Return the run as a new object: {"v":1, "run":"NAME" or null, "rounds":T or null, "first":1, "last":9 (0:
 * there are no rounds), "start":"2026-..Z", "end_s":12.3 (the last record),
 * "learners":[{"id":1,"name":"ana"},...]}. */
json_t *sl_timeline_run_json(struct sl_timeline *timeline);

/* Return a number that grows with every change: a document fetched now is of this version. 0: no record. */
uint64_t sl_timeline_version(const struct sl_timeline *timeline);
/* Return the first round after round `after` whose document has changed since `version`, or 0 if there is
 * none:
 *	for (t = 0; (t = sl_timeline_changed_since(timeline, version, t)) != 0;) */
uint64_t sl_timeline_changed_since(const struct sl_timeline *timeline, uint64_t version, uint64_t after);
/* Return the last round before round `before`, or 0 if there is none. The numbers of a broken log may be far
 * apart: use these two rather than count. */
uint64_t sl_timeline_round_before(const struct sl_timeline *timeline, uint64_t before);

/* Return the time of a record, "2026-11-23T10:45:59.620Z", in seconds since 1970; NaN if it is none. */
double sl_timeline_wall(const char *text);
