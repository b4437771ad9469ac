"""The state of the learners as a table of 80 columns."""
from __future__ import annotations

import errno
import math
import os
import shlex
import textwrap
import time
from typing import Optional

from starling_control.learners import GROUPS, STOP_ONE, inner, number, records, two_places
from starling_control.status import STATES, Row, Status
from starling_timeline.values import items, moment, real, text, whole
from starling_timeline.words import plural

WAIT_SHOWN_S = 1  # a shorter wait is not worth a line
NAME_LETTERS, METRIC_COLUMNS = 11, 7
BELOW = 3  # lines below the rows
SECOND_BYTES = 19  # of an instant in RFC 3339, up to its seconds
INDENT = 4  # of what follows the row of a learner
ROOM_LEAST = 5  # of a line; below, it is not broken
# The width of a column; negative: its cells stand at the left. Without the gap before the first one.
WIDTHS = (-12, 8, 4, -8, 5, 5, 10, 7, 8, 5, 6)
PEER_WIDTHS = (-12, 8, 4, -8, -8)
MARKS = {"new": "x", "overdue": "!", "silent": "?", "stopped": "x"}


def _line(widths: tuple[int, ...], cells: list[str]) -> str:
    """Return the line of a table. Two blanks stand before a cell at the left."""
    return "".join(f"{cell:>{width}}" if width > 0 else f"  {cell:<{-width}}" for width, cell in zip(widths, cells))[2:].rstrip()


def duration(s: float) -> str:
    """Return a duration in at most five columns: "0.3s", "12s", "5m", "3h", "2d"."""
    return (f"{max(s, 0):.1f}s" if s < 9.95 else f"{s:.0f}s" if s < 100 else f"{s / 60:.0f}m" if s < 6000 else f"{s / 3600:.0f}h" if s < 360000
            else f"{s / 86400:.0f}d")


def _ago(at: str) -> str:
    """Return how long ago an instant in RFC 3339 was; "": there is none."""
    s = int(time.time()) - moment(at[:SECOND_BYTES])
    return duration(s) if s == s else ""


def _metric(value: object) -> str:
    """Return a metric in at most seven columns: with three digits, or with fewer if these need more room."""
    if type(value) is not float:
        return "-"
    return next((cell for cell in (f"{value:.{digits}g}" for digits in (3, 2)) if len(cell) <= METRIC_COLUMNS), f"{value:.1g}")


def _phase_s(row: Row) -> float:
    return number(row.status, "phase_s")


class Screen:
    """Lines of a terminal of this width and height; 0: any."""

    def __init__(self, status: Status, width: int, height: int) -> None:
        self.status, self.width, self.height = status, width or None, height or math.inf
        self.lines: list[str] = []
        self._rows()
        self._count()
        self._tolerance()
        self._spent()
        self._problem()
        for name, places in two_places([row.status for row in self.status.rows]).items():
            self._put_wrapped(f"{name} runs at two places, {places}: its identity was copied; {STOP_ONE}")
        self._peers()

    def _left(self) -> float:
        return self.height - len(self.lines)

    def _put(self, line: str) -> None:
        """Add a line, cut where the terminal ends."""
        if self._left() > 0:
            self.lines.append(line[:self.width].rstrip(" "))

    def _put_wrapped(self, line: str) -> None:
        """Add as many lines as it takes."""
        room = (self.width or 0) - INDENT
        for part in [] if not line else textwrap.wrap(line, room, break_long_words=False, break_on_hyphens=False) if room >= ROOM_LEAST else [line]:
            if self._left() > BELOW:
                self._put(" " * INDENT + part)

    # ---- learners ----

    def _cells(self, row: Row, metric: str) -> list[str]:
        s, commit = row.status, inner(row.status, "last_commit")
        first = f"{MARKS.get(row.state, ' ')}{row.name()[:NAME_LETTERS]}"
        exact = "exact" if self.status.is_exact(row) else ""
        of = f"/{row.rounds}" if row.rounds else ""
        if s is None:
            round_shown = f"{row.committed}{of}" if of or row.committed else "-"
            since = _ago(text(row.last or {}, "time")) if row.state != "silent" else ""
            return [first, round_shown, "-", row.state, since or "-", *"-" * 5, exact]
        t, tolerance = whole(s, "round"), s.get("tolerance")
        return [first, f"{t}{of}" if of or t else "-", str(whole(s, "attempt")), text(s, "phase"), duration(_phase_s(row)),
                str(len(items(s, "neighbours"))), str(tolerance) if type(tolerance) is int else "-", _ago(text(commit, "at")) or "-",
                _metric(commit.get(metric)), f"{whole(s, 'memory_bytes') / 1e6:.0f}", exact]

    def _detail(self, row: Row) -> str:
        """Return the second line of a row; "": it has none."""
        asked = row.asked
        if row.state == "overdue" or (items(row.status or {}, "awaits") and _phase_s(row) >= WAIT_SHOWN_S):
            return self.status.wait(row)
        if row.state == "running":
            return ""
        if row.state in ("forming", "waiting"):
            return "starts" if asked.reply is None else text(asked.reply, "error")
        if row.state == "new":
            return f"does not run, and has begun no round; start it: {_start(os.path.dirname(asked.folder))}"
        if row.state == "silent":
            return (f"cannot be asked: {asked.failure()}" if asked.error not in (0, errno.EAGAIN)
                    else "runs and does not answer: stopped by a signal, or its disk hangs")
        if row.last is None and row.state == "finished":
            return f"all {row.rounds} rounds are committed"
        if row.last is None:
            return (f"does not run ({asked.folder}/{asked.socket}: {os.strerror(asked.error)}); its last lines in the journal or on its "
                    "terminal say why")
        return (f"{'' if row.ended or row.state == 'finished' else 'killed; '}last record: {text(row.last, 'time')[:SECOND_BYTES]} "
                f"{text(row.last, 'event')}: {text(row.last, 'text')}")

    def _rows(self) -> None:
        rows, states = list(self.status.rows), list(STATES)
        if self.height < 2 * len(rows) + BELOW + 2:  # not all fit: the worst first
            rows.sort(key=lambda row: (-states.index(row.state), row.committed, -_phase_s(row), row.name()))
        # The held-out error if one of them knows it, else the training loss: the two are not comparable.
        metric = "mse" if any(type(inner(row.status, "last_commit").get("mse")) is float for row in rows) else "loss"
        self._put(_line(WIDTHS, ["learner", "round", "try", "phase", "for", "nbrs", "tolerates", "commit", metric.replace("mse", "MSE"), "MB", ""]))
        for shown, row in enumerate(rows):
            if self._left() <= BELOW + 2:
                self._put(f"  and {len(rows) - shown} more, none of them worse")
                break
            self._put(_line(WIDTHS, self._cells(row, metric)))
            self._put_wrapped(self._detail(row))
            rounded = whole(row.status or {}, "rounded")
            if rounded:
                self._put_wrapped(f"rounded to 0 as a whole in its last model: {plural(rounded, 'tensor')}")

    # ---- second-hand ----

    def _peers(self) -> None:
        """Add what the learners that were asked know of those that were not."""
        asked = {row.name() for row in self.status.rows}
        for row in self.status.rows:
            peers = [peer for peer in records(row.status, "peers") if text(peer, "name") not in asked]
            if peers:
                self._put(f"second-hand, as {row.name()} has heard last:")
            for peer in peers:
                self._peer(row, peer)

    def _peer(self, row: Row, peer: dict) -> None:
        heard, left_out = type(peer.get("round")) is int, peer.get("left_out_until")
        seen = [str(whole(peer, "round")), str(whole(peer, "attempt")), text(peer, "state")] if heard else ["-", "-", "-"]
        line = _line(PEER_WIDTHS, [f"~{text(peer, 'name')[:NAME_LETTERS]}", *seen, f"link {text(peer, 'link')}"])
        notes = ["neighbour"] * (peer.get("neighbour") is True) + ["awaited"] * (peer.get("id") in items(row.status, "awaits"))
        if text(peer, "two_places"):
            notes.append(f"at two places: {text(peer, 'two_places')[:70]}")
        elif peer.get("other_run") is True:
            notes.append("of another run")
        elif type(left_out) is int:
            notes.append(f"left out up to round {left_out}")
        self._put(", ".join([line, *notes]))

    # ---- the last lines ----

    def _least(self, name: str) -> Optional[int]:
        """Return the least whole number of this name that a learner tells."""
        told = [(row.status or {}).get(name) for row in self.status.rows]
        return min((value for value in told if type(value) is int), default=None)

    def _count(self) -> None:
        self._put(f"{plural(len(self.status.rows), 'learner')}: "
                  + ", ".join(f"{count} {STATES[state]}" for state, count in self.status.count().items()))

    def _tolerance(self) -> None:
        """Add how many more losses the open attempt tolerates, by the learner that knows of the most, and how many learners hide each
        other."""
        losses, atom = self._least("tolerance"), self._least("atom")
        if losses is not None:
            self._put(f"the open attempt tolerates {losses} more {'loss' if losses == 1 else 'losses'}")
        if atom == 1:
            self._put("the last sums together tell the model of one learner: see the event privacy in the log")
        elif atom is not None and atom > 1:
            self._put(f"in the last sums together, each learner is hidden among at least {atom}")

    def _spent(self) -> None:
        """Add what is spent of the privacy, by the learner that has spent most."""
        def spent(row: Row) -> float:
            epsilon = real(row.spent(), "epsilon")
            return epsilon if epsilon == epsilon else math.inf  # no bound
        rows = [row for row in self.status.rows if row.spent()]
        if not rows:
            return
        row = max(rows, key=spent)
        dp, epsilon = row.spent(), spent(row)
        budget, without = real(dp, "budget"), real(dp, "epsilon_unsampled")
        charges, guessed = whole(dp, "charges"), whole(dp, "guessed")
        attempts = f": {plural(charges, 'attempt')}" if charges else ""  # a record of the log has no number
        self._put(f"privacy spent: epsilon {epsilon:.3f}{f' of {budget:g}' if budget == budget else ''}"
                  f"{f' ({without:.3f} without sampling)' if without > epsilon else ''} at delta {number(dp, 'delta'):g}, by {row.name()}"
                  f"{attempts}{f', {guessed} of them without a record' if guessed else ''}")

    def _problem(self) -> None:
        """Add the last warning or error."""
        rows = [row for row in self.status.rows if inner(row.status, "last_problem")]
        if not rows:
            return
        row = max(rows, key=lambda row: text(row.status["last_problem"], "at"))
        problem = row.status["last_problem"]
        at, committed = text(problem, "at"), text(inner(row.status, "last_commit"), "at")
        self._put(f"last {'warning' if problem.get('level') == 'warn' else 'error'}, {_ago(at) or '0.0s'} ago"
                  f"{', before its last commit' if at[:SECOND_BYTES] < committed[:SECOND_BYTES] else ''}, {row.name()}: {text(problem, 'text')}")


def _start(folder: str) -> str:
    """Return the command that starts the learner of a folder of a group."""
    unit = os.geteuid() == 0 and folder.startswith(f"{GROUPS}/") and os.path.exists("/run/systemd/system")
    return f"systemctl enable --now starlingd@{os.path.basename(folder)}" if unit else f"starlingd --config {shlex.quote(folder + '/starlingd.yaml')}"
