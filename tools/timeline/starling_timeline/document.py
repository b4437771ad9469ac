"""A round, and the run, as JSON: see timeline.py."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Optional

from starling_timeline import clocks
from starling_timeline.lanes import Lane, Lanes, LaneWait, most
from starling_timeline.rounds import NONE, PHASES, TRAIN, Attempt, Failure, Round
from starling_timeline.separators import separators
from starling_timeline.values import NAN, date

if TYPE_CHECKING:
    from starling_timeline.timeline import Timeline

CAUSE_LEAST_S = 0.1
MARGIN_MOST = 0.375  # from 3/8 on, rounding may have taken the wrong integer (tools/lib/round_table.h)
ADOPTED = "its learners received the result of the round from peers"


def seconds(s: float) -> Optional[float]:
    """Return a number of seconds in whole microseconds, or None: in a broken log it may be too large."""
    us = s * 1e6
    return round(us) / 1e6 if math.isfinite(us) else None


def phase_of(phase: int) -> Optional[str]:
    return PHASES[phase] if phase < NONE else None


def known(**fields: Any) -> dict:
    """Return the fields that are known: neither None nor NaN."""
    return {name: value for name, value in fields.items() if value is not None and value == value}


# ---- attempts ----

class End:
    """How an attempt went at all of its learners."""

    def __init__(self, lanes: Lanes, row: Attempt, start: float) -> None:
        self.start = self.end = NAN
        self.committed = False
        self.failure: Optional[Failure] = None  # the first one that did not only follow others
        self.ends: list[float] = []  # when learners gave the attempt up, or adopted the result
        self.learners = 0
        for lane in lanes.of_attempt(row):
            self._see(lane, row.number, start)
        if not self.committed and self.ends:  # half of the learners have given it up: one that was stopped hears of it later
            self.end = sorted(self.ends)[(len(self.ends) - 1) // 2]

    def _see(self, lane: Lane, attempt: int, start: float) -> None:
        """Add how one learner went through the attempt."""
        part = lane.part
        entered = [span.start for span in lane.spans if span.attempt == attempt and span.phase != TRAIN]
        failures = [failure for failure in part.failures if failure.attempt == attempt]
        if entered:
            self.learners += 1
            self.start = min(entered) if self.start != self.start else min(self.start, *entered)
        for failure in failures:
            if self.failure is None or (failure.elsewhere, failure.when) < (self.failure.elsewhere, self.failure.when):
                self.failure = failure
            self.ends.append(failure.when - start)
        if part.committed and not part.adopted and part.attempt == attempt:
            self.end, self.committed = most(self.end, lane.commit), True
        elif part.adopted and not failures:
            self.ends.append(lane.commit)

    def fields(self) -> dict:
        adopted = self.failure is None and 0 < self.learners <= len(self.ends)
        failed = not self.committed and (self.failure is not None or adopted)
        reason = None if not failed else ADOPTED if adopted else self.failure.reason
        return {"from_s": seconds(self.start), "to_s": seconds(self.end), "ended": "committed" if self.committed else "failed" if failed else None,
                "reason": reason or None}


def graph(row: Attempt) -> dict:
    fields = {"participants": row.ids, "edges": [list(edge) for edge in sorted(row.known)], "edge_count": row.edges}
    if len(row.known) >= row.edges:  # else what separates others is not known
        fields["cut_vertices"], fields["bridges"] = separators(row.ids, row.known)
    return {**fields, "mixing": row.mixing or None, "steps": row.steps, **known(tolerance=row.tolerance, atom=row.atom)}


def attempts(timeline: Timeline, lanes: Lanes) -> list[dict]:
    """Return the attempts, but none without a view that others had a view for."""
    rows = lanes.round.attempts.values()
    viewed = {row.number for row in rows if row.view}
    shown = sorted((row for row in rows if row.view or row.number not in viewed), key=lambda row: (row.number, row.view))
    return [{"attempt": row.number, "view": row.view or None, **(graph(row) if row.ids else {}), **End(lanes, row, timeline.start).fields(),
             "recovering": row.recovering or None} for row in shown]


# ---- learners ----

def wait_fields(wait: LaneWait) -> dict:
    causes = [{"learner": cause.learner, "s": seconds(cause.s)} for cause in wait.causes if cause.s >= CAUSE_LEAST_S]
    return {"phase": phase_of(wait.wait.phase), "attempt": wait.wait.attempt, "from_s": seconds(wait.start), "to_s": seconds(wait.end),
            "for": wait.wait.what or None, "awaited": wait.wait.ids, "causes": causes, "stood_still": wait.stood_still}


def lane_fields(timeline: Timeline, lane: Lane) -> dict:
    part = lane.part
    own = part.committed and not part.adopted
    fields = {"learner": lane.id,
              "spans": [{"phase": PHASES[span.phase], "attempt": span.attempt or 1, "from_s": seconds(span.start), "to_s": seconds(span.end)}
                        for span in lane.spans],
              "waits": [wait_fields(wait) for wait in lane.waits]}
    if lane.restarts:
        fields["restarts"] = [{"at": date(timeline.start + restart.at), "at_s": seconds(restart.at), "phase": phase_of(restart.phase),
                               **known(attempt=restart.attempt or None)} for restart in lane.restarts]
    fields["committed_s"] = seconds(lane.commit)
    if part.committed:
        fields["adopted"], fields["digest"] = part.adopted, part.digest or None
    if part.spent is not None:
        spent = part.spent
        fields["dp"] = {"epsilon": spent.epsilon, "epsilon_unsampled": spent.unsampled, "delta": spent.delta, "budget": spent.budget}
    if own:
        fields["bytes_sent"], fields["bytes_received"] = part.sent, part.received
    return {**fields, **known(train_s=part.train_s, loss=part.loss, mse=part.mse, margin=part.margin, metrics=part.metrics)}


def links(lanes: Lanes) -> list[dict]:
    """Each end counts what it sent; where only one has told, what it received stands for what the other sent."""
    told: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for lane in lanes.lanes.values():
        for peer, sent, received in zip(*[iter(lane.part.traffic)] * 3):
            told.setdefault((min(lane.id, peer), max(lane.id, peer)), []).append((sent, received))
    return [{"a": a, "b": b, "bytes": ends[0][0] + (ends[1][0] if len(ends) > 1 else ends[0][1])} for (a, b), ends in sorted(told.items())]


# ---- the round ----

def same(lanes: Lanes) -> Optional[bool]:
    """Return whether all learners that committed have the same model, without a doubt of rounding; None where none has committed. The mean
    is not recomputed here: `starling launch --verify` does that."""
    parts = [lane.part for lane in lanes.lanes.values() if lane.part.committed]
    if len({part.digest for part in parts}) > 1 or any(part.margin >= MARGIN_MOST for part in parts):
        return False
    return True if any(not part.adopted for part in parts) else None


def loss(lanes: Lanes) -> Optional[float]:
    losses = [lane.part.loss for lane in lanes.lanes.values() if lane.part.loss == lane.part.loss]
    return sum(losses) / len(losses) if losses else None


def head(timeline: Timeline) -> dict:
    learners = [timeline.learners[one] for one in timeline.learner_order]
    return {"v": 1, "run": timeline.run_name or None, "rounds": timeline.rounds_most or None,
            "learners": [{"id": learner.id, "name": learner.name or None} for learner in learners]}


def of_round(timeline: Timeline, round: Round) -> dict:
    lanes = Lanes(timeline, round)
    slowest, gap = lanes.slowest(), clocks.gap(lanes)
    document = {**head(timeline), "round": round.t}
    if lanes.start == lanes.start:
        document["start"] = date(timeline.start + lanes.start)
    return {**document, "start_s": seconds(lanes.start), "end_s": seconds(lanes.commit) if lanes.over else None,
            "attempts": attempts(timeline, lanes), "learners_of_round": [lane_fields(timeline, lane) for lane in lanes.lanes.values()],
            "links": links(lanes),
            "spread": [{"step": step, "spread": spread, "bound": bound} for step, (spread, bound) in sorted(round.spreads.items())],
            "notes": [dict(note) for note in round.notes], "loss": loss(lanes), "same": same(lanes),
            # False: privacy_check: warn let an attempt go on after a failed check. A learner shares nothing before its check has passed.
            "private": False if round.exposed else True if lanes.over else None,
            "slowest": slowest and {"learner": slowest.learner, "phase": phase_of(slowest.phase), "s": seconds(slowest.s)},
            "clock_gap": gap and {"ahead": gap[1], "behind": gap[2], "s": seconds(gap[0])}}


def of_run(timeline: Timeline) -> dict:
    order, document = timeline.order, head(timeline)
    document["first"], document["last"] = (order[0], order[-1]) if order else (0, 0)
    if timeline.learners:
        document["start"] = date(timeline.start)
        document["end_s"] = seconds(max(learner.last for learner in timeline.learners.values()) - timeline.start)
    return document
