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
#include "common/report/record.h"

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
 * version, has no learner or time, or is of one learner more than a roster can have. */
bool sl_timeline_take(struct sl_timeline *timeline, const struct sl_record *record);
/* The same, as a sl_log_take_fn: `timeline` is the context. */
void sl_timeline_take_each(void *timeline, const struct sl_record *record);

/* Return the document of a round as a new object; NULL if no record is about this round. It is what `starling
 * logs --round N --json` prints, and the source of the page, the report and the explanation:
 *
 *   {"v":1, "run":"NAME", "rounds":T, "learners":[{"id":1,"name":"ana"}], "round":7,
 *    "start":"2026-11-23T10:45:59.620Z", "start_s":12.345, "end_s":13.9,
 *    "attempts":[{"attempt":1, "view":"ab12...", "participants":[1,2], "edges":[[1,2]], "edge_count":1,
 *                 "mixing":"forest", "steps":7, "tolerance":2, "atom":2, "cut_vertices":[4],
 * "bridges":[[4,5]], "from_s":.., "to_s":.., "ended":"committed", "reason":"..", "recovering":".."}],
 *    "learners_of_round":[{"learner":1, "spans":[{"phase":"train","attempt":1,"from_s":..,"to_s":..}],
 *                 "waits":[{"phase":"mix","attempt":1,"from_s":..,"to_s":..,"for":"..","awaited":[3],
 *                           "causes":[{"learner":3,"s":9.5}], "stood_still":false}],
 *                 "restarts":[{"at":"2026-..Z","at_s":..,"phase":"share","attempt":1}],
 *                 "committed_s":.., "adopted":false, "train_s":.., "bytes_sent":.., "bytes_received":..,
 *                 "loss":.., "mse":.., "margin":.., "digest":"16 digits", "metrics":{}}],
 *    "links":[{"a":1,"b":2,"bytes":1234}], "spread":[{"step":1,"spread":..,"bound":..}],
 *    "notes":[{"learner":1,"level":"warn","event":"exposed","text":".."}],
 *    "loss":.., "same":true, "private":true, "slowest":{"learner":4,"phase":"train","s":12.1},
 *    "clock_gap":{"ahead":2,"behind":1,"s":4.98} or null}
 *
 * A field that is not known is null or absent; cut_vertices and bridges are, if the logs do not tell of all
 * edge_count edges. `spread`, of metropolis: how far the states of neighbours are apart after `step`
 * exchanges, as in the record `mixed`, the largest of all learners, of the last attempt that has it. Times
 * ending in _s are seconds since the first record of the run, by the clock of the learner; the clock of
 * `ahead` is at least `s` seconds ahead of that of `behind`. `ended` is "committed", "failed" or null: the
 * attempt goes on. `same` is true if all digests are equal and no margin leaves a doubt, null before the
 * first commit; the mean is not recomputed. `private` is false if an attempt went on after a failed privacy
 * check. `restarts`: starts of the program since the learner was done with the round before; `phase` is the
 * one that was interrupted, null before the first. `end_s` is null until all participants have the result or
 * a later round is committed. `awaited` of a wait is as it was last logged; `causes` are those
 * that had not done their part and did not wait themselves, for `s` seconds. `stood_still`: the learner did
 * not wait but was stopped or overloaded, since it logged the wait so late. `loss` is the mean training loss
 * of the learners that have one.
 */
json_t *sl_timeline_round_json(const struct sl_timeline *timeline, uint64_t round);

/* Return the run as a new object: {"v":1, "run":"NAME" or null, "rounds":T or null, "first":1, "last":9 (0:
 * there are no rounds), "start":"2026-..Z", "end_s":12.3 (the last record),
 * "learners":[{"id":1,"name":"ana"},...]}. */
json_t *sl_timeline_run_json(const struct sl_timeline *timeline);

/* Return a number that grows with every change: a document fetched now is of this version. 0: no record. */
uint64_t sl_timeline_version(const struct sl_timeline *timeline);
/* Return the first round after round `after` whose document has changed since `version`, or 0 if there is
 * none:
 *	for (t = 0; (t = sl_timeline_changed_since(timeline, version, t)) != 0;) */
uint64_t sl_timeline_changed_since(const struct sl_timeline *timeline, uint64_t version, uint64_t after);
/* Return the last round before round `before`, or 0 if there is none. The numbers of a broken log may be far
 * apart: use these two rather than count. */
uint64_t sl_timeline_round_before(const struct sl_timeline *timeline, uint64_t before);
