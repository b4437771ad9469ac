"""`starling status`: show what learners are doing, and which learners they wait for. --watch: the same again and again. On a terminal a
screen that is redrawn in place, in one write; in a pipe a line for each change."""
from __future__ import annotations

import json
import math
import os
import select
import signal
import sys
import termios
import time
from typing import Optional

from starling_control.learners import named, number, parser
from starling_control.screen import Screen
from starling_control.status import Row, Status
from starling_timeline.values import dumps, rounded, text
from starling_timeline.words import width_of

REPEAT_S = 1
GAUGE_LEAST, GAUGE_MOST = 8, 40
EXAMPLES = """Lines marked with ~ are what the others know of learners that were not asked: it may be out of date.

Examples:
  starling status RUNFOLDER
  starling status --watch RUNFOLDER
  starling status --control /run/starling/control.sock
  starling status --json RUNFOLDER | jq '.learners[].state'

Exit status: 0 all make progress, 1 a learner waits beyond a deadline or does not answer, or its group is
forming, or it waits for its first program, 2 a learner is stopped, has finished or was not started yet
(or wrong usage)."""


class Left(Exception):
    """A signal has ended the watch."""


# ---- a terminal ----

class Terminal:
    """Another screen, whose single keys are read; the terminal is restored at the end."""

    def __init__(self) -> None:
        self.keys, self.pace = None, None  # the pace: when it began to count, with how many rounds
        if os.isatty(0):
            self.keys = termios.tcgetattr(0)
            raw = termios.tcgetattr(0)
            raw[3] &= ~(termios.ICANON | termios.ECHO)  # Ctrl-C stays a signal
            termios.tcsetattr(0, termios.TCSANOW, raw)
        sys.stdout.write("\033[?1049h\033[?25l")  # no cursor

    def close(self) -> None:
        sys.stdout.write("\033[?25h\033[?1049l")
        sys.stdout.flush()
        if self.keys is not None:
            termios.tcsetattr(0, termios.TCSANOW, self.keys)

    def wait(self) -> bool:
        """Wait for the next time to ask; return False after q."""
        ready = select.select([0] if self.keys is not None else [], [], [], REPEAT_S)[0]
        return not ready or os.read(0, 1) not in (b"", b"q", b"Q")

    def draw(self, status: Status) -> None:
        try:
            width, height = os.get_terminal_size(1)
        except OSError:
            width, height = 80, 0
        lines = [f"{time.strftime('%H:%M:%S')}  q ends  {status.of.folder[:max(width - 20, 0)]}", self._bar(status, max(width, 8)),
                 *Screen(status, width, height - 3 if height > 8 else 5).lines]
        # To the end of each line: nothing is cleared first.
        sys.stdout.write("\033[H" + "".join(f"{line}\033[K\n" for line in lines) + "\033[J")

    def _bar(self, status: Status, width: int) -> str:
        """Return the bar: committed rounds of all, and the time left. "": their number is not known."""
        rounds = max((row.rounds for row in status.rows), default=0)
        if rounds == 0:
            return ""
        done = min((row.committed for row in status.rows if row.status is not None), default=0)
        self.pace = self.pace or (time.monotonic(), done)
        past = done - self.pace[1]
        s = (time.monotonic() - self.pace[0]) * (rounds - done) / past if past > 0 else 0
        left = ("" if s <= 0 else f"{math.ceil(s)} s left" if s < 100 else f"{s / 60:.0f} min left" if s < 6000 else f"{s / 3600:.0f} h left")
        head = f"round {done} of {rounds}  {'done':<8} {100 * done / rounds:3.0f}% "
        room = min(width - 4 - len(head) - len(left), GAUGE_MOST)
        full = int(min(done / rounds, 1) * room)
        gauge = f"[{'#' * full}{'-' * (room - full)}] " if room >= GAUGE_LEAST else ""
        return f"{head}{gauge}{left}"[:width - 1].rstrip()


# ---- a pipe ----

def _change(status: Status, row: Row) -> str:
    s = row.status
    if s is None:
        return f"{row.name()}: {row.state}, round {row.committed} committed"
    wait = status.wait(row) if row.state != "running" or number(s, "phase_s") >= 1 else ""
    return (f"{row.name()}: round {number(s, 'round')} of {row.rounds}, attempt {number(s, 'attempt')}"
            f"{f', ' + text(s, 'phase') + ', ' + wait if wait else ''}")


def _print_changes(status: Status, said: list[str]) -> None:
    """Print a line for each learner that has changed since the last time."""
    for i, row in enumerate(status.rows):
        line = _change(status, row)
        if line != said[i]:
            print(f"{time.strftime('%H:%M:%S')} {line}")
        said[i] = line


def _leave(number: int, frame: object) -> None:
    raise Left


def _watch(status: Status, as_json: bool) -> int:
    """A screen stays until it is left; a pipe ends with the run."""
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, _leave)
    signal.signal(signal.SIGTSTP, signal.SIG_IGN)  # the terminal would stay as it is
    said, terminal = [""] * len(status.rows), None
    try:
        terminal = Terminal() if not as_json and width_of(sys.stdout) else None
        while True:
            status.read()
            if terminal is not None:
                terminal.draw(status)
            elif as_json:
                print(dumps(status.document()))
            else:
                _print_changes(status, said)
            sys.stdout.flush()
            if terminal is None and status.over() or not _again(terminal):
                break
    except Left:
        pass
    finally:
        if terminal is not None:
            terminal.close()
    return status.exit()


def _again(terminal: Optional[Terminal]) -> bool:
    if terminal is not None:
        return terminal.wait()
    reader = select.poll()
    reader.register(1, 0)  # errors are always told
    return not reader.poll(1000 * REPEAT_S)


# ---- the command ----

def status(arguments: list[str]) -> int:
    p = parser("[RUNFOLDER]", "Show the round, phase and last commit of learners, which learners they wait for, and how many more losses\n"
               "the open attempt tolerates.", EXAMPLES)
    p.add_argument("-w", "--watch", action="store_true",
                   help="show the table again each second, until q or Ctrl-C; in a pipe, a line per change, to the end of the run")
    p.add_argument("-j", "--json", action="store_true", help="print one JSON object; with --watch one a second")
    o = p.parse_intermixed_args(arguments)
    shown = Status(named(p, o.folders, o.control))
    if not (o.json or o.folders or o.control):
        print(f"run folder {shown.of.folder}" if shown.of.folder else f"installed daemon, {shown.of[0].shown}")
    if o.watch:
        return _watch(shown, o.json)
    shown.read()
    if o.json:
        print(json.dumps(rounded(shown.document(), 15), indent=2, ensure_ascii=False))
    else:
        print("\n".join(Screen(shown, width_of(sys.stdout), 0).lines))
    return shown.exit()
