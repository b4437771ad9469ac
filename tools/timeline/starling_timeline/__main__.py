"""`starling logs` with --round, --stats or --trace; see starling-logs(1). The command in C (tools/starling/logs.c) has checked the options,
and hands over "round", "stats" or "trace", the number or the file, "json" or "text", and the paths."""
from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import nullcontext
from typing import Optional

from starling_timeline import stats, trace
from starling_timeline.explain import Explanation
from starling_timeline.logs import FAILED, USAGE, Logs, LogsError, Skipped
from starling_timeline.timeline import Timeline
from starling_timeline.values import dumps, whole
from starling_timeline.words import clean, width_of


def say(text: str) -> None:
    print(f"starling logs: {clean(text)}", file=sys.stderr)


def name_run(timeline: Timeline, paths: list[str]) -> None:
    """Name the run after its folder; that of a launch knows its number of rounds."""
    folder = os.path.realpath(paths[0])
    if len(paths) > 1 or not os.path.isdir(folder):
        return
    try:
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
    except (OSError, ValueError, RecursionError):
        summary = {}
    timeline.name(os.path.basename(folder), whole(summary, "rounds_asked") if type(summary) is dict else 0)


def no_round(path: str, t: int, run: dict) -> int:
    first, last = run["first"], run["last"]
    there = "are none of any round" if first == 0 else f"is round {first}" if first == last else f"are rounds {first} to {last}"
    say(f"{path}: no record of round {t}; there {there}")
    return USAGE


def show_round(timeline: Timeline, path: str, t: int, as_json: bool) -> int:
    document = timeline.round(t)
    if document is None:
        return no_round(path, t, timeline.run())
    show(Explanation(document).lines(width_of(sys.stdout)), document if as_json else None)
    return 0


def show(lines: list[str], document: Optional[dict]) -> None:
    """Print the lines, or a document instead."""
    print(clean("\n".join(lines)) if document is None else dumps(document))


def write_trace(timeline: Timeline, path: str) -> int:
    try:
        with nullcontext(sys.stdout) if path == "-" else open(path, "w", encoding="utf-8", errors="replace") as out:
            trace.write(out, timeline)
    except OSError as failure:
        if path == "-":
            raise
        say(f"{path}: {failure.strerror}")
        return FAILED
    return 0


def say_skipped(skipped: Skipped, what: str, why: str) -> None:
    if skipped.count > 0:
        say(f"{skipped.count} {what}{'' if skipped.count == 1 else 's'}{why} left out, the first at {skipped.first}")


def run(arguments: list[str]) -> int:
    what, value, form, *paths = arguments
    timeline, logs, as_json = Timeline(), Logs(paths), form == "json"
    name_run(timeline, paths)
    for record in logs.records():
        timeline.take(record)
    if what == "round":
        status = show_round(timeline, paths[0], int(value), as_json)
    elif what == "trace":
        status = write_trace(timeline, value)
    else:
        figures, status = stats.of_timeline(timeline), 0
        show(stats.lines(figures), figures if as_json else None)
    sys.stdout.flush()
    say_skipped(logs.malformed, "malformed line", "")
    say_skipped(logs.other_version, "record", " of another version")
    return status


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for out in (sys.stdout, sys.stderr):
        out.reconfigure(encoding="utf-8", errors="replace")
    try:
        return run(arguments)
    except LogsError as failure:
        say(str(failure))
        return failure.status
    except MemoryError:
        say("out of memory")
        return FAILED
    except OSError as failure:  # of standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        if isinstance(failure, BrokenPipeError):  # the reader has read enough
            return 0
        say(f"cannot write standard output: {failure.strerror}")
        return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
