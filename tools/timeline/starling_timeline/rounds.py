"""What a timeline keeps of the records: rounds x learners.

    round --> attempt    the view: participants, edges, mixing     (one for all learners)
          \\--> part       phases, waits, commit of one learner      (one for each learner)

The lists of a round are bounded, so that a log of any length or content takes bounded memory per round: what exceeds a bound is left out.
Times are seconds since 1970, by the clock of the learner.
"""
from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Optional

from starling_timeline.values import NAN, WHOLE_MOST, items, real, text, whole

LEARNERS_MOST = 2000
ENTRIES_MOST = 1024
WAITS_MOST = 256
FAILURES_MOST = 64
ATTEMPTS_MOST = 256
NOTES_MOST = 20
SPREADS_MOST = 100
STARTS_MOST = 1024  # of a learner in the run
SAME_WAIT_S = 0.5  # records of one wait agree on its begin by less than this
NAME_MOST = 63

# Those of the protocol (§7.1 Phases), in its order; NONE: between two rounds or two attempts.
PHASES = ("train", "discover", "agree", "share", "ready", "release", "mix", "check", "confirm", "commit", "recover", "catchup", "done")
NONE = len(PHASES)
PLACE = {name.upper(): place for place, name in enumerate(PHASES)}
TRAIN, SHARE, READY, RELEASE, MIX, CHECK, CONFIRM, COMMIT, RECOVER = map(
    PHASES.index, ("train", "share", "ready", "release", "mix", "check", "confirm", "commit", "recover"))
IDLE = ("TRAIN", "DONE")  # between two rounds: they name the attempt that is over


def ids(record: dict, name: str) -> list[int]:
    """Return the learners of a field, ascending, each once."""
    return sorted({one for one in items(record, name)[:LEARNERS_MOST] if type(one) is int and 0 < one <= WHOLE_MOST})


@dataclass
class Wait:
    start: float
    phase: int
    attempt: int
    what: str  # what the learners are to do
    ids: Optional[list[int]] = None
    end: float = NAN
    seen: float = 0  # its last record
    first_s: float = float("inf")  # how long it had lasted at its first record


@dataclass
class Failure:
    when: float
    attempt: int
    elsewhere: bool  # it only followed others
    reason: str


@dataclass
class Attempt:
    """An attempt with its view; two views of one attempt number are two. "": none was agreed."""
    number: int
    view: str
    ids: Optional[list[int]] = None  # participants
    known: set[tuple[int, int]] = field(default_factory=set)  # edges that a log tells of, the lower id first
    edges: int = 0  # of the view: those without a log too
    mixing: str = ""
    steps: int = 0
    tolerance: Optional[int] = None  # the least of all learners
    atom: Optional[int] = None
    recovering: str = ""  # why it went on without mixing


class Spent(NamedTuple):
    """What a learner has spent of its privacy, after the last attempt of the round that it was charged for; None: no bound, no budget."""
    attempt: int
    epsilon: Optional[float]
    unsampled: Optional[float]
    delta: Optional[float]
    budget: Optional[float]


@dataclass
class Part:
    """A learner in a round."""
    entries: list[tuple[float, int, int]] = field(default_factory=list)  # a phase was entered: time, attempt, phase; ascending
    waits: list[Wait] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    traffic: array = field(default_factory=partial(array, "Q"))  # peer, bytes sent, bytes received, and so on: a third of the memory of tuples
    views: dict[int, Attempt] = field(default_factory=dict)  # by the number of the attempt
    committed: bool = False
    adopted: bool = False  # the result was sent by a peer
    resumed: bool = False  # it was restarted in an attempt: its phases are no bounds
    attempt: int = 0  # that committed
    commit: float = NAN  # or when the result was adopted
    trained: float = NAN
    train_s: float = NAN
    loss: float = NAN
    mse: float = NAN
    margin: float = NAN
    sent: int = 0  # bytes since the last commit
    received: int = 0
    digest: str = ""  # the first 16 digits
    metrics: Optional[dict] = None
    spent: Optional[Spent] = None


@dataclass
class Round:
    t: int
    version: int = 0
    parts: dict[int, Part] = field(default_factory=dict)  # by learner
    attempts: dict[tuple[int, str], Attempt] = field(default_factory=dict)
    spreads: dict[int, tuple[float, float]] = field(default_factory=dict)  # by exchanges done: spread, bound
    spread_attempt: int = 0
    notes: list[dict] = field(default_factory=list)
    exposed: bool = False  # an attempt went on although its privacy check had failed

    def attempt(self, number: int, view: str = "") -> Optional[Attempt]:
        """Return the attempt with a view, made if it is new; None: there are too many."""
        found = self.attempts.get((number, view))
        if found is None and len(self.attempts) < ATTEMPTS_MOST:
            found = self.attempts[number, view] = Attempt(number, view)
        return found

    def own_attempt(self, part: Part, number: int) -> Optional[Attempt]:
        """Return the attempt of a learner: that of the view which it reported, or the one without a view."""
        return part.views.get(number) or self.attempts.get((number, ""))


@dataclass
class Learner:
    id: int
    name: str = ""
    last: float = 0  # record
    last_round: int = 0  # that a record names
    starts: list[float] = field(default_factory=list)  # of its program


class Taking:
    """One record of a round, as it is taken up: a method for each event."""

    def __init__(self, round: Round, part: Part, record: dict, when: float) -> None:
        self.round, self.part, self.record, self.when = round, part, record, when
        self.attempt = whole(record, "attempt")

    def take(self) -> None:
        phase, event = self.record.get("phase"), text(self.record, "event")
        if self.attempt > 0 and phase not in IDLE:
            self.round.attempt(self.attempt)
        take = TAKE.get(event)
        if take is not None:
            take(self)
        if self.record.get("level") in ("warn", "error") and event not in TOLD:
            self.note(event)

    def note(self, event: str) -> None:
        sentence, notes = text(self.record, "text"), self.round.notes
        if len(notes) < NOTES_MOST and all(note["text"] != sentence for note in notes):
            notes.append({"learner": whole(self.record, "learner"), "level": self.record["level"], "event": event, "text": sentence})

    def enter(self, phase: int) -> None:
        """Times are whole milliseconds: within one, the order is that of the protocol."""
        entries, at = self.part.entries, bisect_left(self.part.entries, (self.when,))
        while at < len(entries) and entries[at][0] == self.when:
            if entries[at][2] == phase:
                return  # the same record again
            at += 1
        if len(entries) < ENTRIES_MOST:
            entry = (self.when, self.attempt, phase)
            entries.insert(bisect_left(entries, entry), entry)

    def phase(self) -> None:
        """The records `training` and `trained` say when training begins and ends."""
        name = text(self.record, "phase")
        self.enter(NONE if name in IDLE else PLACE.get(name, NONE))

    def training(self) -> None:
        self.enter(TRAIN)

    def trained(self) -> None:
        part, metrics = self.part, self.record.get("metrics")
        part.trained, part.train_s, part.loss = self.when, real(self.record, "train_s"), real(self.record, "loss")
        if type(metrics) is dict:
            part.metrics = {name: one for name, one in metrics.items() if type(one) in (int, float)}
        self.enter(NONE)

    def view(self) -> None:
        attempt = self.round.attempt(self.attempt, text(self.record, "view")[:16])
        if attempt is None:
            return
        record, own = self.record, whole(self.record, "learner")
        if attempt.ids is None:
            attempt.ids = ids(record, "participants")
            attempt.mixing, attempt.steps, attempt.edges = text(record, "mixing")[:15], whole(record, "steps"), whole(record, "edges")
        for name in ("tolerance", "atom"):
            value, least = record.get(name), getattr(attempt, name)
            if type(value) is int and value >= 0:
                setattr(attempt, name, value if least is None else min(least, value))
        members = set(attempt.ids)
        if own in members:
            attempt.known.update((min(own, other), max(own, other)) for other in ids(record, "neighbours") if other in members and other != own)
        self.part.views[self.attempt] = attempt

    def _wait(self, start: float) -> Optional[Wait]:
        """Return the wait of the record: one that is known, or a new one."""
        waits, what, phase = self.part.waits, text(self.record, "for"), PLACE.get(text(self.record, "phase"), NONE)
        for wait in reversed(waits):
            if abs(wait.start - start) < SAME_WAIT_S and (wait.attempt, wait.phase, wait.what) == (self.attempt, phase, what):
                return wait
        if len(waits) == WAITS_MOST:
            return None
        waits.append(Wait(start, phase, self.attempt, what))
        return waits[-1]

    def waiting(self) -> None:
        self._waiting(over=False)

    def waited(self) -> None:
        self._waiting(over=True)

    def _waiting(self, over: bool) -> None:
        waited_s = real(self.record, "waited_s")
        waited_s = waited_s if waited_s == waited_s else 0.0
        wait = self._wait(self.when - waited_s)
        if wait is None:
            return
        wait.first_s = min(wait.first_s, waited_s)
        if wait.ids is not None and self.when < wait.seen:
            return
        if not over or wait.ids is None:
            wait.ids = ids(self.record, "awaited")
        wait.seen = self.when
        if over:
            wait.end = self.when

    def _result(self, adopted: bool) -> None:
        part = self.part
        part.digest, part.commit = text(self.record, "digest")[:16], self.when
        part.committed, part.adopted = True, adopted

    def committed(self) -> None:
        part, record = self.part, self.record
        self._result(adopted=False)
        part.attempt, part.margin = self.attempt, real(record, "margin")
        part.sent, part.received = whole(record, "round_bytes_sent"), whole(record, "round_bytes_received")
        part.traffic = array("Q", [whole(link, name) for link in items(record, "links")[:LEARNERS_MOST] if type(link) is dict
                                   for name in ("peer", "sent", "received")])

    def caught_up(self) -> None:
        if not self.part.committed:  # an own commit says more
            self._result(adopted=True)

    def evaluated(self) -> None:
        self.part.mse = real(self.record, "mse")

    def failed(self) -> None:
        failures = self.part.failures
        if len(failures) < FAILURES_MOST and all(failure.attempt != self.attempt for failure in failures):
            elsewhere = self.record.get("level") == "info"
            failures.append(Failure(self.when, self.attempt, elsewhere, text(self.record, "reason")))

    def recovering(self) -> None:
        attempt = self.round.own_attempt(self.part, self.attempt) or self.round.attempt(self.attempt)
        if attempt is not None:
            attempt.recovering = attempt.recovering or text(self.record, "reason")

    def resumed(self) -> None:
        self.part.resumed = True

    def mixed(self) -> None:
        """The largest spread and bound of all learners count, of the last attempt."""
        round, before = self.round, 0
        if self.attempt < round.spread_attempt:
            return
        if self.attempt > round.spread_attempt:
            round.spreads = {}
        round.spread_attempt = self.attempt
        for point in items(self.record, "spread")[:SPREADS_MOST]:
            step, spread, bound = [*point, None, None, None][:3] if type(point) is list else (-1, None, None)
            values = {"spread": spread, "bound": bound}
            spread, bound = real(values, "spread"), real(values, "bound")
            if type(step) is not int or not before <= step <= WHOLE_MOST or spread != spread or bound != bound:
                continue
            before = step
            known = round.spreads.get(step)
            if known is not None or len(round.spreads) < SPREADS_MOST:
                round.spreads[step] = (spread, bound) if known is None else (max(known[0], spread), max(known[1], bound))

    def charged(self) -> None:
        numbers = (real(self.record, name) for name in ("epsilon", "epsilon_unsampled", "delta", "budget"))
        if self.part.spent is None or self.part.spent.attempt <= self.attempt:
            self.part.spent = Spent(self.attempt, *(number if number == number else None for number in numbers))

    def exposed(self) -> None:
        """Setting privacy_check: warn has let an attempt go on."""
        self.round.exposed = True


TAKE = {"phase": Taking.phase, "training": Taking.training, "trained": Taking.trained, "view": Taking.view, "waiting": Taking.waiting,
        "waited": Taking.waited, "mixed": Taking.mixed, "committed": Taking.committed, "caught_up": Taking.caught_up,
        "evaluated": Taking.evaluated, "attempt_failed": Taking.failed, "attempt_over": Taking.failed, "recovering": Taking.recovering,
        "attempt_resumed": Taking.resumed, "exposed": Taking.exposed, "charged": Taking.charged}
TOLD = {"waiting", "waited", "attempt_failed", "attempt_over", "recovering"}  # otherwise: no notes
