"""The rounds of a run, from the log records of its learners.

    records of all learners (files, HTTP) --> Timeline.take --> rounds x learners
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
                  "loss":.., "mse":.., "margin":.., "digest":"16 digits", "metrics":{},
                  "dp":{"epsilon":.., "epsilon_unsampled":.., "delta":.., "budget":..}}],
     "links":[{"a":1,"b":2,"bytes":1234}], "spread":[{"step":1,"spread":..,"bound":..}],
     "notes":[{"learner":1,"level":"warn","event":"exposed","text":".."}],
     "loss":.., "same":true, "private":true, "slowest":{"learner":4,"phase":"train","s":12.1},
     "clock_gap":{"ahead":2,"behind":1,"s":4.98} or null}

A field that is not known is null or absent; cut_vertices and bridges are, if the logs do not tell of all edge_count edges. `spread`, of
metropolis: how far the states of neighbours are apart after `step` exchanges, as in the record `mixed`, the largest of all learners, of
the last attempt that has it. `dp`: what the learner has spent of its privacy after this round, as in the record `charged`. Times ending in _s are seconds since the first record of the run, by the clock of the learner; the clock of
`ahead` is at least `s` seconds ahead of that of `behind`. `ended` is "committed", "failed" or null: the attempt goes on. `same` is true
if all digests are equal and no margin leaves a doubt, null before the first commit; the mean is not recomputed. `private` is false if an
attempt went on after a failed privacy check. `restarts`: starts of the program since the learner was done with the round before; `phase`
is the one that was interrupted, null before the first. `end_s` is null until all participants have the result or a later round is
committed. `awaited` of a wait is as it was last logged; `causes` are those that had not done their part and did not wait themselves, for
`s` seconds. `stood_still`: the learner did not wait but was stopped or overloaded, since it logged the wait so late. `loss` is the mean
training loss of the learners that have one.
"""
from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from typing import Optional

from starling_timeline import document
from starling_timeline.logs import VERSION
from starling_timeline.rounds import LEARNERS_MOST, NAME_MOST, STARTS_MOST, Learner, Part, Round, Taking
from starling_timeline.values import moment, text, whole


class Timeline:
    """The rounds of a run. `version` grows with every change: a document made now is of this version. 0: no record."""

    def __init__(self) -> None:
        self.version = 0
        self.run_name, self.rounds_most = "", 0  # 0: not known
        self.rounds: dict[int, Round] = {}
        self.order: list[int] = []  # rounds, ascending
        self.learners: dict[int, Learner] = {}
        self.learner_order: list[int] = []  # ids, ascending
        self.parts, self.parts_most, self.rounds_least = 0, 0, 1  # of all rounds; parts_most 0: any number
        self.leaving: Callable[[dict], None] = lambda document: None
        self.dropped_to = 0  # rounds up to this one were dropped for new ones
        self.start = float("inf")  # of the run: its first record

    def name(self, run: Optional[str], rounds: int) -> None:
        """Set what no record says: the name of the run, and its number of rounds; 0: not known."""
        self.run_name, self.rounds_most = run or "", rounds or self.rounds_most
        self.version += 1
        self._change_all()

    def bound(self, parts: int, rounds: int, leaving: Callable[[dict], None]) -> None:
        """Keep only the last rounds: at most `parts` pairs of a round and a learner, but at least `rounds`. `leaving` gets the document of
        each round that is dropped. A later record of it changes nothing."""
        self.parts_most, self.rounds_least, self.leaving = parts, rounds, leaving

    # ---- records ----

    def take(self, record: dict) -> bool:
        """Take up a log record (starling-log(5)). Return False, and ignore it, if it is of another schema version, has no learner or time,
        or is of one learner more than a roster can have."""
        own, t, when = whole(record, "learner"), whole(record, "round"), moment(record.get("time"))
        if whole(record, "v") != VERSION or own == 0 or when != when:
            return False
        learner = self.learners.get(own)
        if learner is None:
            if len(self.learners) == LEARNERS_MOST:
                return False
            learner = self.learners[own] = Learner(own)
            insort(self.learner_order, own)
        self.version += 1
        if when < self.start:  # the times of all documents are those since the first record of the run
            self.start = when
            self._change_all()
        self._see(learner, t, when, record)
        if t > self.dropped_to:
            self._take_of_round(own, t, when, record)
        return True

    def _change_all(self) -> None:
        for round in self.rounds.values():
            round.version = self.version

    def _see(self, learner: Learner, t: int, when: float, record: dict) -> None:
        learner.name = learner.name or text(record, "name")[:NAME_MOST]
        if when > learner.last:
            learner.last, learner.last_round = when, t or learner.last_round
        event = record.get("event")
        if event == "finished":
            self.rounds_most = whole(record, "rounds") or self.rounds_most
        if event == "listening" and when not in learner.starts and len(learner.starts) < STARTS_MOST:
            insort(learner.starts, when)
            before = self.rounds.get(learner.last_round)  # that in which it was may look different now
            if before is not None:
                before.version = self.version

    def _take_of_round(self, own: int, t: int, when: float, record: dict) -> None:
        round = self.rounds.get(t)
        if round is None:
            round = self.rounds[t] = Round(t)
            insort(self.order, t)
        part = round.parts.get(own)
        if part is None:
            part = round.parts[own] = Part()
            self.parts += 1
        Taking(round, part, record, when).take()
        round.version = self.version
        if self.parts_most and self.parts > self.parts_most:
            self._drop()

    def _drop(self) -> None:
        """Drop the first rounds."""
        while len(self.order) > self.rounds_least and self.parts > self.parts_most:
            self.leaving(document.of_round(self, self.rounds[self.order[0]]))
            self.dropped_to = self.order.pop(0)
            self.parts -= len(self.rounds.pop(self.dropped_to).parts)

    # ---- documents ----

    def round(self, t: int) -> Optional[dict]:
        """Return the document of a round as a new object; None if no record is about this round."""
        round = self.rounds.get(t)
        return None if round is None else document.of_round(self, round)

    def run(self) -> dict:
        """Return the run as a new object: {"v":1, "run":"NAME" or null, "rounds":T or null, "first":1, "last":9 (0: there are no rounds),
        "start":"2026-..Z", "end_s":12.3 (the last record), "learners":[{"id":1,"name":"ana"},...]}."""
        return document.of_run(self)

    def changed_since(self, version: int, after: int) -> int:
        """Return the first round after round `after` whose document has changed since `version`, or 0 if there is none."""
        places = range(bisect_left(self.order, after + 1), len(self.order))
        return next((self.order[place] for place in places if self.rounds[self.order[place]].version > version), 0)

    def round_before(self, before: int) -> int:
        """Return the last round before round `before`, or 0 if there is none. The numbers of a broken log may be far apart: use these two
        rather than count."""
        place = bisect_left(self.order, before)
        return self.order[place - 1] if place > 0 else 0
