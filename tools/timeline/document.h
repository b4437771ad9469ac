/* document.h - a round as one JSON document, version 1: what `starling logs --round N --json` prints, and the
 * source of the page, the report and the explanation.
 *
 *   {"v":1, "run":"NAME", "rounds":T, "learners":[{"id":1,"name":"ana"}], "round":7,
 *    "start":"2026-11-23T10:45:59.620Z", "start_s":12.345, "end_s":13.9,
 *    "attempts":[{"attempt":1, "view":"ab12...", "participants":[1,2], "edges":[[1,2]], "edge_count":1,
 *                 "mixing":"forest", "steps":7, "tolerance":2, "cut_vertices":[4], "bridges":[[4,5]],
 *                 "from_s":.., "to_s":.., "ended":"committed", "reason":"..", "recovering":".."}],
 *    "learners_of_round":[{"learner":1, "spans":[{"phase":"train","attempt":1,"from_s":..,"to_s":..}],
 *                 "waits":[{"phase":"mix","attempt":1,"from_s":..,"to_s":..,"for":"..","awaited":[3],
 *                           "blamed":[{"learner":3,"s":9.5}], "stood_still":false}],
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
 * a later round is committed. `awaited` of a wait is as it was last logged; `blamed` are those
 * that had not done their part and did not wait themselves, for `s` seconds. `stood_still`: the learner did
 * not wait but was stopped or overloaded, since it logged the wait so late. `loss` is the mean training loss
 * of the learners that have one.
 */
#pragma once

#include "tools/timeline/rounds.h"

/* Return the document of `round`, or of the run, as a new object. */
json_t *sl_document_round(const struct sl_timeline *timeline, const struct sl_timeline_round *round);
json_t *sl_document_run(const struct sl_timeline *timeline);
