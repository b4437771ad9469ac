"""The rounds of a run, from the log records of its learners.

    records of all learners (files, control sockets) --> Timeline.take --> rounds x learners
                                                                                |
                                  starling logs, live page, report, CSV <-- one JSON document per round

Every conclusion is drawn here: the learners that were awaited, the slowest learner and phase, cut vertices, whether all models are the
same. Records may come in any order, and more than once. Learners are named by their ids. Times of a document are seconds since the first
record of the run, as the clock of each learner had them; how far clocks differ at least is told (clocks.py). Memory per round is bounded.

The document of a round is what `starling logs --round N --json` prints, and the source of the page, the report and the explanation:

    {"v":1, "run":"NAME", "rounds":T, "learners":[{"id":1,"name":"ana"}], "round":7,
     "start":"2026-11-23T10:45:59.620Z", "start_s":12.345, "end_s":13.9,
     "attempts":[{"attempt":1, "view":"ab12...", "participants":[1,2], "edges":[[1,2]], "edge_count":1,
                  "mixing":"forest", "steps":7, "tolerance":2, "atom":2, "cut_vertices":[4], "bridges":[[4,5]],
                  "from_s":.., "to_s":.., "ended":"committed", "reason":"..", "recovering":".."}],
     "learners_of_round":[{"learner":1, "spans":[{"phase":"train","attempt":1,"from_s":..,"to_s":..}],
                  "waits":[{"phase":"mix","attempt":1,"from_s":..,"to_s":..,"for":"..","awaited":[3],
                            "causes":[{"learner":3,"s":9.5}], "stood_still":false}],
                  "restarts":[{"at":"2026-..Z","at_s":..,"phase":"share","attempt":1}],
                  "committed_s":.., "adopted":false, "train_s":.., "bytes_sent":.., "bytes_received":..,
                  "loss":.., "mse":.., "margin":.., "digest":"16 digits", "metrics":{}}],
     "links":[{"a":1,"b":2,"bytes":1234}], "spread":[{"step":1,"spread":..,"bound":..}],
     "notes":[{"learner":1,"level":"warn","event":"exposed","text":".."}],
     "loss":.., "same":true, "private":true, "slowest":{"learner":4,"phase":"train","s":12.1},
     "clock_gap":{"ahead":2,"behind":1,"s":4.98} or null}

A field that is not known is null or absent; cut_vertices and bridges are, if the logs do not tell of all edge_count edges. `spread`, of
metropolis: how far the states of neighbours are apart after `step` exchanges, as in the record `mixed`, the largest of all learners, of
the last attempt that has it. Times ending in _s are seconds since the first record of the run, by the clock of the learner; the clock of
`ahead` is at least `s` seconds ahead of that of `behind`. `ended` is "committed", "failed" or null: the attempt goes on. `same` is true
if all digests are equal and no margin leaves a doubt, null before the first commit; the mean is not recomputed. `private` is false if an
attempt went on after a failed privacy check. `restarts`: starts of the program since the learner was done with the round before; `phase`
is the one that was interrupted, null before the first. `end_s` is null until all participants have the result or a later round is
committed. `awaited` of a wait is as it was last logged; `causes` are those that had not done their part and did not wait themselves, for
`s` seconds. `stood_still`: the learner did not wait but was stopped or overloaded, since it logged the wait so late. `loss` is the mean
training loss of the learners that have one.
"""
from __future__ import annotations

from typing import Optional


class Timeline:
    """The rounds of a run. `version` grows with every change: a document made now is of this version. 0: no record."""

    def __init__(self) -> None:
        self.version = 0

    def name(self, run: Optional[str], rounds: int) -> None:
        """Set what no record says: the name of the run, and its number of rounds; 0: not known."""
        raise NotImplementedError

    def bound(self, parts: int) -> None:
        """Keep only the last rounds: at most `parts` pairs of a round and a learner, and at least one round. A record of a round that was
        dropped changes nothing."""
        raise NotImplementedError

    def take(self, record: dict) -> bool:
        """Take up a log record (starling-log(5)). Return False, and ignore it, if it is of another schema version, has no learner or time,
        or is of one learner more than a roster can have."""
        raise NotImplementedError

    def round(self, t: int) -> Optional[dict]:
        """Return the document of a round as a new object; None if no record is about this round."""
        raise NotImplementedError

    def run(self) -> dict:
        """Return the run as a new object: {"v":1, "run":"NAME" or null, "rounds":T or null, "first":1, "last":9 (0: there are no rounds),
        "start":"2026-..Z", "end_s":12.3 (the last record), "learners":[{"id":1,"name":"ana"},...]}."""
        raise NotImplementedError

    def changed_since(self, version: int, after: int) -> int:
        """Return the first round after round `after` whose document has changed since `version`, or 0 if there is none."""
        raise NotImplementedError

    def round_before(self, before: int) -> int:
        """Return the last round before round `before`, or 0 if there is none. The numbers of a broken log may be far apart: use these two
        rather than count."""
        raise NotImplementedError
