"""Records of all logs, filtered, as one stream of lines."""
from __future__ import annotations

import select
import signal
import sys
import time
from dataclasses import dataclass, field
from typing import Optional

from starling_timeline.command import USAGE, CommandError, complain
from starling_timeline.logs import Logs
from starling_timeline.values import items, text, whole
from starling_timeline.words import HIDDEN

POLL_S = 0.2
NAMED_MOST = 8  # learners in an error
TEXT_MOST = 4096  # characters of a text that are printed
LEVELS = {"debug": "\033[2m", "info": "\033[32m", "warn": "\033[33m", "error": "\033[31m"}  # the least severe first; their colours
RANK = {level: rank for rank, level in enumerate(LEVELS)}


def say(what: str) -> None:
    """Print an error of `starling logs`."""
    complain("starling logs", what)


def line_of(record: dict, colour: bool) -> str:
    """Return a record as starlingd prints it with `log_format: text`."""
    stamp, level = text(record, "time"), text(record, "level")
    parts = (stamp[11:23] if len(stamp) >= 23 else "", text(record, "name")[:63], level[:7], text(record, "event")[:31],
             text(record, "text")[:TEXT_MOST])
    at, name, level, event, what = (HIDDEN.sub("?", part).replace("\n", "?") for part in parts)
    on, off = (LEVELS.get(level, ""), "\033[0m") if colour else ("", "")
    return f"{at:<12} {name} {on}{level:<5}{off} {event:<10} {what}\n"


@dataclass
class Filter:
    """Which records are wanted. learner, peer: an id or a name; round 0: any."""
    learner: Optional[str] = None
    peer: Optional[str] = None
    phase: Optional[str] = None
    level: str = "debug"
    round: int = 0
    names: set[tuple[int, str]] = field(default_factory=set)  # ids and names of learners that were seen

    def any(self) -> bool:
        return bool(self.learner or self.peer or self.phase or self.level != "debug")

    def of_learner(self, record: dict) -> bool:
        return self.learner is None or self.learner in (str(whole(record, "learner")), text(record, "name"))

    def _names_peer(self, record: dict) -> bool:
        """Return true if the record names the wanted peer, alone or with others."""
        ids = {whole(record, "peer"), *(one for key in ("awaited", "peers") for one in items(record, key) if type(one) is int)}
        return any(str(one) == self.peer or (one, self.peer) in self.names for one in ids if one > 0)

    def takes(self, record: dict) -> bool:
        return (RANK.get(text(record, "level"), len(RANK)) >= RANK[self.level]
                and self.round in (0, whole(record, "round"))
                and (self.phase is None or text(record, "phase").lower() == self.phase.lower())
                and self.of_learner(record) and (self.peer is None or self._names_peer(record)))


def no_round(path: str, round: int, by: str, first: int, last: int) -> int:
    """Say that a round has no record, and which have; return the exit status."""
    there = "are none of any round" if first == 0 else f"is round {first}" if first == last else f"are rounds {first} to {last}"
    say(f"{path}: no record of round {round}{by}; there {there}")
    return USAGE


class Stream:
    """The wanted records on standard output, and what was seen of the others for an error."""

    def __init__(self, logs: Logs, wanted: Filter, as_json: bool, colour: bool) -> None:
        self.logs, self.wanted, self.as_json, self.colour = logs, wanted, as_json, colour
        self.found, self.rounds = False, set()  # of the wanted learner

    def print(self) -> None:
        """Print what was not printed yet."""
        out, wanted = sys.stdout.buffer, self.wanted
        for record, line in self.logs.lines():
            if text(record, "name") and whole(record, "learner"):
                wanted.names.add((whole(record, "learner"), text(record, "name")))
            if wanted.of_learner(record):
                self.found = True
                self.rounds.add(whole(record, "round"))
            if wanted.takes(record):
                out.write(line.rstrip(b"\n") + b"\n" if self.as_json else line_of(record, self.colour).encode("utf-8", "replace"))
        out.flush()

    def no_learner(self) -> int:
        known = [f"{name} ({one})" for one, name in sorted(self.wanted.names)]
        more = f" and {len(known) - NAMED_MOST} more" if len(known) > NAMED_MOST else ""
        there = f"; there are {', '.join(known[:NAMED_MOST])}{more}" if known else ""
        say(f"{self.logs.paths[0]}: no record of learner '{self.wanted.learner}'{there}")
        return USAGE

    def judge(self) -> int:
        """Say that the wanted learner or round has no record; return the exit status."""
        wanted, rounds = self.wanted, self.rounds - {0}
        if wanted.learner is not None and not self.found:
            return self.no_learner()
        if wanted.round and wanted.round not in rounds:
            by = f" by learner {wanted.learner}" if wanted.learner else ""
            return no_round(self.logs.paths[0], wanted.round, by, min(rounds, default=0), max(rounds, default=0))
        return 0

    def follow(self) -> int:
        """Print records as they are written, until a signal, or until the reader of standard output has gone. A wanted learner
        without a record is reported, and waited for."""
        def end(*_: object) -> None:
            raise KeyboardInterrupt
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)
        reader = select.poll()
        reader.register(sys.stdout, 0)  # errors are always told
        try:
            self.print()
            if self.wanted.learner is not None and not self.found:
                self.no_learner()
            while not reader.poll(0):
                time.sleep(POLL_S)
                self.logs.refresh()
                self.print()
        except KeyboardInterrupt:
            pass
        return 0


def see_names(paths: list[str], wanted: Filter) -> None:
    """See the names of all learners before the first record is printed: peers are named by ids."""
    try:
        with Logs(paths) as logs:
            for record in logs.records():
                wanted.names.add((whole(record, "learner"), text(record, "name")))
    except CommandError:
        pass
