"""The figures of a whole run: phases, bytes, stragglers, clocks."""
from __future__ import annotations

from collections import Counter
from typing import Optional

from starling_timeline.durations import Durations, Samples, table
from starling_timeline.explain import clocks
from starling_timeline.timeline import Timeline
from starling_timeline.words import Names, plural, size

LINKS_MOST = 10
STRAGGLERS_SHOWN = 5


class Stats:
    """What is summed up over the rounds."""

    def __init__(self) -> None:
        self.durations, self.rounds, self.bytes = Durations(), Samples(), Samples()  # bytes: sent in a round, by all learners
        self.links: Counter[tuple[int, int]] = Counter()
        self.slowest: dict[int, list[float]] = {}  # by learner: the seconds of each round
        self.attempts = self.failed = self.sent = 0
        self.same: list[bool] = []  # of each committed round
        self.gap: Optional[dict] = None  # the largest

    def add(self, document: dict) -> None:
        round, gap, slowest = document["round"], document["clock_gap"], document["slowest"]
        self.durations.add(document)
        self.attempts += len(document["attempts"])
        self.failed += sum(attempt["ended"] == "failed" for attempt in document["attempts"])
        sent = sum(lane.get("bytes_sent", 0) for lane in document["learners_of_round"])
        self.sent += sent
        if sent > 0:
            self.bytes.add(sent, round)
        for link in document["links"]:
            self.links[link["a"], link["b"]] += link["bytes"]
        if document["end_s"] is not None and document["start_s"] is not None:
            self.rounds.add(document["end_s"] - document["start_s"], round)
        if document["same"] is not None:
            self.same.append(document["same"])
        if gap and gap["s"] > (self.gap["s"] if self.gap else 0):
            self.gap = {**gap, "round": round}
        if slowest:
            self.slowest.setdefault(slowest["learner"], []).append(slowest["s"] or 0.0)

    def fields(self) -> dict:
        largest = max(self.bytes, default=None)
        links = sorted(self.links.items(), key=lambda link: (-link[1], link[0]))[:LINKS_MOST]
        slowest = sorted(((learner, len(s), sum(s)) for learner, s in sorted(self.slowest.items())), key=lambda row: (-row[1], -row[2]))
        return {"committed": len(self.same), "same": all(self.same) if self.same else None, "attempts": self.attempts,
                "failed_attempts": self.failed, "round_s": self.rounds.fields(), "phases": self.durations.fields(),
                "bytes": largest and {"sent": self.sent, "round_p50": self.bytes.quantile(0.5), "round_max": largest.s, "round": largest.round},
                "links": [{"a": a, "b": b, "bytes": count} for (a, b), count in links],
                "stragglers": [{"learner": learner, "rounds": rounds, "s": s} for learner, rounds, s in slowest], "clock_gap": self.gap}


def of_timeline(timeline: Timeline) -> dict:
    """Return the figures of all rounds as a new object:

        {"v":1, "run":"NAME" or null, "rounds":T or null, "learners":[{"id":1,"name":"ana"}], "first":1,
         "last":9, "committed":9 (rounds), "same":true, false or null (none committed), "attempts":11, "failed_attempts":2,
         "round_s":{"count":9,"p50_s":..,"p95_s":..,"max_s":..,"round":7} or null,
         "phases":[{"phase":"train","count":900,"p50_s":..,"p95_s":..,"max_s":..,"learner":4,"round":7}],
         "bytes":{"sent":N (all learners and rounds), "round_p50":N, "round_max":N, "round":7} or null,
         "links":[{"a":1,"b":2,"bytes":N}] (the ten busiest),
         "stragglers":[{"learner":4, "rounds":3 (in which it was the slowest), "s":36.1 (in its slowest phases)}],
         "clock_gap":{"ahead":2,"behind":1,"s":4.98,"round":1} (the largest) or null}

    A quantile is a value of a learner in a round, by nearest rank.
    """
    stats = Stats()
    for t in timeline.order:
        stats.add(timeline.round(t))
    return {**timeline.run(), **stats.fields()}


def lines(stats: dict) -> list[str]:
    """Return the figures as text."""
    names, round, sent = Names(stats), stats["round_s"], stats["bytes"]
    same = {True: "all learners have the same models", False: "NOT all learners have the same models", None: "none has a result"}[stats["same"]]
    found = [f"Rounds committed: {stats['committed']}; attempts: {stats['attempts']}, of which {stats['failed_attempts']} failed; {same}."]
    if round:
        found.append(f"A round took p50 {round['p50_s']:.3f} s, p95 {round['p95_s']:.3f} s, at most {round['max_s']:.3f} s "
                     f"(round {round['round']}).")
    found += [*table(names, stats["phases"], round=True), ""]
    if sent:
        found.append(f"Sent: {size(sent['sent'])} in all; p50 of a round {size(sent['round_p50'])}, at most {size(sent['round_max'])} "
                     f"(round {sent['round']}).")
    if sent and stats["links"]:
        busiest = stats["links"][0]
        found.append(f"The busiest link, {names.who(busiest['a'])} to {names.who(busiest['b'])}, carried {size(busiest['bytes'])}.")
    stragglers = stats["stragglers"]
    if stragglers:
        found.append("Slowest learners:")
    found += [f"  {names.who(one['learner'])} in {plural(one['rounds'], 'round')}, {one['s']:.3f} s in all"
              for one in stragglers[:STRAGGLERS_SHOWN]]
    if len(stragglers) > STRAGGLERS_SHOWN:
        found.append(f"  and {len(stragglers) - STRAGGLERS_SHOWN} more")
    return found + clocks(names, stats["clock_gap"])
