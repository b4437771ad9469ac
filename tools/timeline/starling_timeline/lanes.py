"""What the learners did in a round, in seconds since the start of the run: spans of phases, waits, commits; and the learner that held the
others up.

    ana  |train|discover..............|agree|share|...|commit|
         |     |wait: eve, to be ready|                      |
    eve  |train.......................|agree|share|...|commit|    slowest: eve in train
"""
from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Optional

from starling_timeline.rounds import COMMIT, MIX, NONE, RECOVER, SHARE, TRAIN, Learner, Part, Round, Wait
from starling_timeline.values import NAN

if TYPE_CHECKING:
    from starling_timeline.timeline import Timeline

STOOD_STILL_S = 5  # a wait is first logged after a second
EXCHANGES = (SHARE, MIX, RECOVER)  # data go back and forth


def most(a: float, b: float) -> float:
    """Return the larger number; of a number and NaN, the number."""
    return a if a > b or b != b else b


@dataclass
class Span:
    """Times are NaN where they are not known yet."""
    phase: int
    attempt: int
    start: float
    end: float = NAN


class Cause(NamedTuple):
    """`s` seconds in [start, end] of a wait for a learner."""
    learner: int
    s: float
    start: float
    end: float


@dataclass
class LaneWait:
    """`stood_still`: the wait was first logged so late that the learner did not wait, but stood still: it was stopped, or overloaded. No
    other learner is the cause of that."""
    start: float
    end: float
    wait: Wait
    stood_still: bool
    causes: list[Cause] = field(default_factory=list)


@dataclass
class Restart:
    """The program of the learner was started again, in a phase; NONE: before it began the round."""
    at: float
    phase: int = NONE
    attempt: int = 0


@dataclass
class Slowest:
    learner: int
    phase: int  # NONE: not known
    s: float


class Lane:
    """A learner in a round."""

    def __init__(self, timeline: Timeline, round: Round, learner: Learner, part: Part) -> None:
        self.id, self.part, self.start = learner.id, part, timeline.start
        self.commit = part.commit - self.start if part.committed else NAN  # or when it adopted the result
        self.next_round = self._next_round(timeline, round)
        self.spans = self._spans()
        self.waits = [LaneWait(wait.start - self.start, self._wait_end(wait), wait, wait.first_s > STOOD_STILL_S) for wait in part.waits]
        self.restarts = self._restarts(timeline, round, learner) if learner.starts else []
        self.excuses: list[tuple[float, float]] = []  # when it waited for others
        self.done: dict[tuple[int, int], float] = {}  # by attempt and phase: see done_s

    def _next_round(self, timeline: Timeline, round: Round) -> float:
        """Return when the learner began a later round, or NaN."""
        for place in range(bisect_left(timeline.order, round.t + 1), len(timeline.order)):
            part = timeline.rounds[timeline.order[place]].parts.get(self.id)
            if part is not None and part.entries:
                return part.entries[0][0] - self.start
        return NAN

    # ---- spans ----

    def _spans(self) -> list[Span]:
        part, spans = self.part, []
        found = [Span(phase, attempt, at - self.start) for at, attempt, phase in part.entries]
        if part.train_s == part.train_s and all(span.phase != TRAIN for span in found):
            found.append(Span(TRAIN, 0, part.trained - self.start - part.train_s))
            found.sort(key=lambda span: span.start)
        for place, span in enumerate(found):
            if span.phase == NONE:
                continue
            # A record of the phase TRAIN may follow that of the training; it does not end it.
            rest = range(place + 1, len(found))
            after = next((k for k in rest if span.phase != TRAIN or found[k].phase != NONE or found[k].attempt == 0), len(found))
            end = found[after].start if after < len(found) else self._last_end(span)
            attempt = span.attempt or next((later.attempt for later in found[after:] if later.attempt), 0)
            spans.append(Span(span.phase, attempt, span.start, end))
        return spans

    def _last_end(self, span: Span) -> float:
        """Return when the last span of a learner ended; NaN: it has not."""
        if self.commit >= span.start:
            return self.commit
        return max(self.next_round, span.start) if self.next_round == self.next_round else NAN

    def _wait_end(self, wait: Wait) -> float:
        """A wait ends with the phase in which it was last logged."""
        if wait.end == wait.end:
            return wait.end - self.start
        span = self.span_at(wait.seen - self.start)
        return NAN if span is None else span.end

    def span_at(self, at: float) -> Optional[Span]:
        """Return the last span that begins at a time or before it."""
        return next((span for span in reversed(self.spans) if span.start <= at), None)

    # ---- restarts ----

    def _restarts(self, timeline: Timeline, round: Round, learner: Learner) -> list[Restart]:
        """Return the starts since the learner was done with the round before. Its first start comes after no round and no phase."""
        after = self._round_before(timeline, round)
        if after != after:
            after = self.spans[0].start if self.spans else NAN
        end = self.commit if self.commit == self.commit else self.next_round
        found = []
        for start in learner.starts:
            at = start - self.start
            if not at > after or at >= end:
                continue
            span = self.span_at(at)
            found.append(Restart(at) if span is None else Restart(at, span.phase, 0 if span.phase == TRAIN else span.attempt))
        return found

    def _round_before(self, timeline: Timeline, round: Round) -> float:
        """Return when the learner was done with the round before, or NaN."""
        for place in reversed(range(bisect_left(timeline.order, round.t))):
            part = timeline.rounds[timeline.order[place]].parts.get(self.id)
            if part is not None and part.entries:
                return (part.commit if part.committed else part.entries[-1][0]) - self.start
        return NAN

    def done_s(self, attempt: int, phase: int) -> float:
        """Return when the learner had done its part in a phase of an attempt: when it entered the phase, or, where data go back and forth,
        left it. Infinity: it has not."""
        if (attempt, phase) not in self.done:
            passed = (attempt, phase + (phase in EXCHANGES))
            otherwise = self.commit if self.commit == self.commit else float("inf")
            self.done[attempt, phase] = next((span.start for span in self.spans
                                              if (span.attempt, span.phase) >= passed and span.phase != TRAIN), otherwise)
        return self.done[attempt, phase]


class Lanes:
    """The lanes of a round, by learner, in the order of ids."""

    def __init__(self, timeline: Timeline, round: Round) -> None:
        self.round = round
        self.lanes = {one: Lane(timeline, round, timeline.learners[one], round.parts[one])
                      for one in timeline.learner_order if one in round.parts}
        parts = [lane.part for lane in self.lanes.values()]
        own = [part.attempt for part in parts if part.committed and not part.adopted]
        self.start = min((lane.spans[0].start for lane in self.lanes.values() if lane.spans), default=NAN)  # of the first phase
        self.commit = max((lane.commit for lane in self.lanes.values() if lane.part.committed), default=NAN)  # the last one
        self.now = max((learner.last for learner in timeline.learners.values()), default=NAN) - timeline.start  # the last record
        self.committed = bool(own)
        self.attempt = own[-1] if own else max((entry[1] for part in parts for entry in part.entries), default=0)  # or the last one
        self.over = self.committed and self._is_over(timeline)  # nothing more is to come
        self._find_causes()

    def _is_over(self, timeline: Timeline) -> bool:
        """Return True if all participants are done, or a later round is committed."""
        order, round = timeline.order, self.round
        for place in range(bisect_left(order, round.t + 1), len(order)):
            if any(part.committed for part in timeline.rounds[order[place]].parts.values()):
                return True
        participants = {one for row in round.attempts.values() if row.number == self.attempt for one in row.ids or ()}
        return all((one in round.parts and round.parts[one].committed) or
                   (one in timeline.learners and timeline.learners[one].last_round > round.t) for one in participants)

    def of_attempt(self, row: object) -> list[Lane]:
        """Return the lanes of the learners of an attempt."""
        return [lane for lane in self.lanes.values() if self.round.own_attempt(lane.part, row.number) is row]

    # ---- the slowest ----

    def end_of(self, end: float) -> float:
        return end if end == end else self.now

    def _find_causes(self) -> None:
        """An awaited learner is the cause of a wait until it had done its part, but for its own waits for others."""
        for lane in self.lanes.values():
            lane.excuses = [(wait.start, self.end_of(wait.end)) for wait in lane.waits if wait.wait.ids and not wait.stood_still]
        for lane in self.lanes.values():
            for wait in lane.waits:
                if not wait.stood_still:
                    wait.causes = [self._cause(wait, one) for one in wait.wait.ids or ()]

    def _cause(self, wait: LaneWait, learner: int) -> Cause:
        lane, start, end = self.lanes.get(learner), wait.start, self.end_of(wait.end)
        if lane is not None:
            end = min(end, lane.done_s(wait.wait.attempt, wait.wait.phase))
        s = end - start
        for excuse in lane.excuses if lane is not None else ():
            shared = min(end, excuse[1]) - max(start, excuse[0])
            s -= shared if shared > 0 else 0
        return Cause(learner, max(0.0, s), start, end)

    def slowest(self) -> Optional[Slowest]:
        """Return the learner that held the others up most: the awaited one for which they waited longest in sum, while it was not waiting
        itself; without a logged wait the last one to end the phase whose end took longest."""
        return self._most_awaited() or self._last_through()

    def _most_awaited(self) -> Optional[Slowest]:
        """Sum over all others: a learner that was stopped also believes that it waited for others. The longest cause says when."""
        causes: dict[int, list[Cause]] = {}
        for lane in self.lanes.values():
            for wait in lane.waits:
                for cause in wait.causes:
                    causes.setdefault(cause.learner, []).append(cause)
        sums = {learner: sum(cause.s for cause in causes[learner]) for learner in sorted(causes)}
        learner = max(sums, key=sums.get, default=0)
        if not learner or not sums[learner] > 0:
            return None
        longest = max(causes[learner], key=lambda cause: cause.s)
        return self._in_phase(Slowest(learner, NONE, longest.s), longest)

    def _in_phase(self, slowest: Slowest, cause: Cause) -> Slowest:
        """Set phase and duration: the phase in which the learner was for most of the time of the cause."""
        lane, longest = self.lanes.get(slowest.learner), 0.0
        for span in lane.spans if lane is not None else ():
            end = self.end_of(span.end)
            shared = min(cause.end, end) - max(cause.start, span.start)
            if shared > longest:
                longest, slowest.phase, slowest.s = shared, span.phase, end - span.start
        return slowest

    def _last_through(self) -> Optional[Slowest]:
        """Each phase of each attempt is over when the last learner ends it: find the one that took longest to be over."""
        last: dict[tuple[int, int], tuple[Span, int]] = {}
        for lane in self.lanes.values():
            for span in lane.spans:
                key = (span.attempt, span.phase)
                if span.end == span.end and span.phase <= COMMIT and (key not in last or span.end > last[key][0].end):
                    last[key] = (span, lane.id)
        before, longest, slowest = self.start, 0.0, None
        for key in sorted(last):
            span, learner = last[key]
            if span.end - before > longest:
                longest, slowest = span.end - before, Slowest(learner, span.phase, span.end - span.start)
            before = max(before, span.end)
        return slowest
