"""A round document in plain sentences and a small table."""
from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Optional

from starling_timeline.durations import Durations, table
from starling_timeline.values import NAN, real, text
from starling_timeline.words import Names, duration, fill, plural, size

WAITS_SHOWN = 6  # awaited learners
NOTES_SHOWN = 8
RESTARTS_SHOWN = 6


def length(interval: dict) -> float:
    """Return the seconds of an interval; NaN: it goes on."""
    return real(interval, "to_s") - real(interval, "from_s")


def clocks(names: Names, gap: Optional[dict]) -> list[str]:
    """Return the line on how far two clocks differ at least: `gap` as in a document."""
    return [f"The clock of {names.who(gap['ahead'])} is at least {gap['s']:.3f} s ahead of that of {names.who(gap['behind'])}. "
            "Times are as they were logged."] if gap else []


@dataclass
class Awaited:
    """All waits for one learner in one phase, for one purpose. `learner` 0: none in particular."""
    learner: int
    phase: str
    what: str
    others: bool  # learners were awaited
    waiters: set[int] = field(default_factory=set)
    longest: float = 0.0
    sum: float = 0.0
    open: bool = False


class Explanation:
    def __init__(self, document: dict) -> None:
        self.document, self.names, self.durations = document, Names(document), Durations()
        self.durations.add(document)
        self.lanes = document["learners_of_round"]
        holders = [lane for lane in self.lanes if lane["committed_s"] is not None]
        self.adopted = sum(lane["adopted"] for lane in holders)
        self.committed = len(holders) - self.adopted
        self.sent = sum(lane.get("bytes_sent", 0) for lane in holders)
        self.margin = max((lane["margin"] for lane in holders if "margin" in lane), default=NAN)
        self.digest = text(holders[-1], "digest") if holders else ""

    def lines(self, width: int) -> list[str]:
        """Return the lines; the sentences are wrapped to `width`, 0: not wrapped."""
        return [*fill(self.sentences(), width), *table(self.names, self.durations.fields(), round=False)]

    def sentences(self) -> Iterator[str]:
        yield self.head()
        for attempt in self.document["attempts"]:
            yield self.attempt(attempt)
        yield from self.spread()
        yield from self.restarts()
        yield from self.result()
        yield from self.privacy()
        yield from self.spent()
        yield from self.slowest()
        yield from self.waits()
        yield from self.bytes()
        yield from self.notes()
        yield from clocks(self.names, self.document["clock_gap"])

    # ---- the round ----

    def head(self) -> str:
        document, count = self.document, len(self.document["attempts"])
        of = (f" of {document['rounds']}" if document["rounds"] else "") + (f" of {document['run']}" if document["run"] else "")
        if document["end_s"] is not None and document["start_s"] is not None:
            ended = f" and was committed {duration(document['end_s'] - document['start_s'])} later"
        elif self.committed > 0:
            ended = f"; {self.committed} learner{' has' if self.committed == 1 else 's have'} committed it, others have not yet"
        else:
            ended = " and is not committed"
        attempts = "; no attempt has begun." if count == 0 else ", in one attempt." if count == 1 else f", in {count} attempts."
        start = document.get("start", "")[11:23] or "--:--:--.---"
        return f"Round {document['round']}{of} began at {start} UTC{ended}{attempts}"

    def attempt(self, attempt: dict) -> str:
        s, took = length(attempt), "?"
        if s == s:
            took = duration(s)
        if attempt["ended"] == "committed":
            said = f"committed after {took}."
        elif attempt["ended"] == "failed":
            said = f"ended after {took} without a commit: {attempt['reason'] or 'no reason was logged'}."
        else:
            said = "has not ended."
        if attempt["recovering"]:
            said += f" Mixing was ended ({attempt['recovering']}); deposits and their keys were collected instead."
        return f"Attempt {attempt['attempt']} {said} {self.graph(attempt) if 'participants' in attempt else 'No view was agreed.'}"

    def graph(self, attempt: dict) -> str:
        links, known = attempt["edge_count"], len(attempt["edges"])
        return (f"{plural(len(attempt['participants']), 'participant')}, {plural(links, 'link')}"
                f"{f' ({known} of them in these logs)' if known < links else ''}, view {attempt['view'] or ''}; mixing {attempt['mixing'] or ''} "
                f"in {plural(attempt['steps'], 'exchange')}.{self.tolerance(attempt.get('tolerance'))}{self.separators(attempt)}")

    def tolerance(self, losses: Optional[int]) -> str:
        if losses is None:
            return ""
        return f" Once all are Ready, it completes after the loss of any {plural(losses, 'participant')}." if losses else \
            " Once all are Ready, it needs all participants."

    def separators(self, attempt: dict) -> str:
        """Return the learners and links whose loss separates others, if all links are known."""
        if "cut_vertices" not in attempt:
            return ""
        said = " No cut vertex: no single learner separates others."
        if attempt["cut_vertices"]:
            said = f" Cut vertices, without which the graph is not connected: {self.names.several(attempt['cut_vertices'])}."
        bridges = len(attempt["bridges"])
        if bridges:
            said += f" {bridges} link{' is a bridge' if bridges == 1 else 's are bridges'}, without which it is not connected."
        return said

    def spread(self) -> Iterator[str]:
        """How the states of metropolis converged."""
        points = self.document["spread"]
        if points:
            shown = [f" {point['spread']:.2g} before exchange {point['step'] + 1} (bound {point['bound']:.2g})"
                     for point in (points[:1] if len(points) == 1 else [points[0], points[-1]])]
            yield f"Spread of the states:{','.join(shown)}."

    def restarts(self) -> Iterator[str]:
        all_ = [(lane["learner"], restart) for lane in self.lanes for restart in lane.get("restarts", [])]
        for learner, restart in all_[:RESTARTS_SHOWN]:
            place = f"in {restart['phase']}" if restart["phase"] else "before it began the round"
            of = f" of attempt {restart['attempt']}" if "attempt" in restart else ""
            yield f"{self.names.who(learner)} was started again at {restart['at'][11:19]} UTC ({place}{of})."
        if len(all_) > RESTARTS_SHOWN:
            yield f"{len(all_) - RESTARTS_SHOWN} more restarts: --json prints all."

    def result(self) -> Iterator[str]:
        same, holders = self.document["same"], self.committed + self.adopted
        if same is None:
            return
        if not same:
            said = "NOT the same: digests differ, or a rounding margin reached 3/8"
        elif holders == 1:
            said = f"Same: the 1 learner whose result is logged has model {self.digest}"
        else:
            said = f"Same: all {holders} learners whose results are logged have model {self.digest}"
        if self.margin == self.margin:
            said += f"; largest rounding margin {self.margin:.4f}"
        if self.adopted > 0:
            said += f"; {self.adopted} of them received it from peers"
        if self.document["loss"] is not None:
            said += f"; mean training loss {self.document['loss']:.4f}"
        yield f"{said}."

    def privacy(self) -> Iterator[str]:
        if self.document["private"]:
            yield "Private: the privacy check of every participant passed before it sent a share."
        elif self.document["private"] is False:
            yield "NOT private: the privacy check failed, and privacy_check: warn let the round go on."

    def spent(self) -> Iterator[str]:
        """What the learners have spent of their privacy after this round."""
        groups: dict[str, list[int]] = {}
        charged = [lane for lane in self.lanes if "dp" in lane]
        for lane in charged:
            epsilon, unsampled = (real(lane["dp"], name) for name in ("epsilon", "epsilon_unsampled"))
            said = f"{epsilon:.3f}" if epsilon == epsilon else "without a bound"
            without = "" if epsilon == unsampled or unsampled != unsampled else f" ({unsampled:.3f} without sampling)"
            groups.setdefault(said + without, []).append(lane["learner"])
        for dp in charged[:1]:
            budget, delta = (real(dp["dp"], name) for name in ("budget", "delta"))
            of = f", of epsilon {budget:g}" if budget == budget else ", epsilon"
            at = f" at delta {delta:g}" if delta == delta else ""
            yield f"Privacy spent{of}{at}: {'; '.join(f'{said} by {self.names.several(ids)}' for said, ids in groups.items())}."

    # ---- the slowest learner, and waits ----

    def slowest(self) -> Iterator[str]:
        slowest = self.document["slowest"]
        if slowest is None:
            return
        who, s, phase = self.names.who(slowest["learner"]), real(slowest, "s"), slowest["phase"]
        samples = self.durations.phases.get(phase)
        if not samples:
            yield f"Slowest: {who}, for which others waited {duration(s)}; the logs do not say in which phase it was."
            return
        median = samples.quantile(0.5)
        if s >= median:
            said = f"{who}, {duration(s)} in {phase}; the median learner needed {duration(median)}."
        else:
            said = (f"{who}, which was the last to end {phase}, since it began late: it needed {duration(s)}, the median learner "
                    f"{duration(median)}.")
        yield f"Slowest: {said}{self.training(slowest['learner'], s) if phase == 'train' else ''}"

    def training(self, learner: int, span_s: float) -> str:
        """Return why a learner was in train for so long, if it trained much shorter than that."""
        train_s = next((real(lane, "train_s") for lane in self.lanes if lane["learner"] == learner), NAN)
        return f" Its training took {duration(train_s)} of that: it was stopped or overloaded, or its application came late." \
            if train_s < span_s / 2 else ""

    def waits(self) -> Iterator[str]:
        waits = [(lane["learner"], wait) for lane in self.lanes for wait in lane["waits"]]
        for learner, wait in [one for one in waits if one[1]["stood_still"]][:WAITS_SHOWN]:
            s = length(wait)
            yield (f"{self.names.who(learner)} stood still for {duration(s) if s == s else '?'} in {wait['phase'] or ''}: "
                   "it was stopped or overloaded.")
        rows = self.awaited([one for one in waits if not one[1]["stood_still"]])
        yield "Waits of more than a second, by the learner that was awaited:" if rows else "No learner waited for more than a second."
        for row in rows[:WAITS_SHOWN]:
            yield self.wait(row)
        if len(rows) > WAITS_SHOWN:
            yield f"  and {len(rows) - WAITS_SHOWN} more: --json prints all"

    def awaited(self, waits: list[tuple[int, dict]]) -> list[Awaited]:
        """Return a row for each awaited learner, phase and purpose: that of the slowest learner first, then those that cost most."""
        rows: dict[tuple[int, str, str], Awaited] = {}
        for waiter, wait in waits:
            s = length(wait)
            for cause in wait["causes"] or [{"learner": 0, "s": 0 if math.isnan(s) else s}]:
                key = (cause["learner"], wait["phase"] or "", wait["for"] or "")
                row = rows.setdefault(key, Awaited(*key, others=bool(wait["awaited"])))
                row.waiters.add(waiter)
                row.longest, row.sum, row.open = max(row.longest, cause["s"]), row.sum + cause["s"], row.open or math.isnan(s)
        slowest = (self.document["slowest"] or {"learner": 0})["learner"]
        return sorted((rows[key] for key in sorted(rows)), key=lambda row: (row.learner != slowest, -row.sum))

    def wait(self, row: Awaited) -> str:
        several = len(row.waiters) > 1
        who = f"{len(row.waiters)} learners" if several else self.names.who(*row.waiters)
        took = f" {'up to ' if several else ''}{duration(row.longest)}" if row.longest > 0 else ""
        whom = f"{self.names.who(row.learner)} " if row.learner else "others " if row.others else ""
        return f"  {who} waited{took} in {row.phase} for {whom}{row.what}{' (not over)' if row.open else ''}"

    def bytes(self) -> Iterator[str]:
        if self.committed == 0:
            return
        said = f"Sent: {size(self.sent)} by {plural(self.committed, 'learner')}"
        busiest = max(self.document["links"], key=lambda link: link["bytes"], default={"bytes": 0})
        if busiest["bytes"] > 0:
            said += f"; the busiest link, {self.names.who(busiest['a'])} to {self.names.who(busiest['b'])}, carried {size(busiest['bytes'])}"
        yield f"{said}."

    def notes(self) -> Iterator[str]:
        notes = self.document["notes"]
        if notes:
            yield "Warnings and errors:"
        for note in notes[:NOTES_SHOWN]:
            yield f"  {self.names.who(note['learner'])}: {note['text']}"
        if len(notes) > NOTES_SHOWN:
            yield f"  and {len(notes) - NOTES_SHOWN} more"
