"""`starling logs`; see starling-logs(1)."""
from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
from contextlib import nullcontext
from typing import Optional

from starling_timeline import stats, trace
from starling_timeline.explain import Explanation
from starling_timeline.command import FAILED, MISSING, USAGE, Parser, guard
from starling_timeline.logs import Logs, Skipped
from starling_timeline.records import LEVELS, Filter, Stream, no_round, say, see_names
from starling_timeline.timeline import Timeline
from starling_timeline.values import dumps, whole
from starling_timeline.words import clean, width_of

ROUND_MOST = (1 << 32) - 1
EXAMPLES = """
Examples:
  starling logs RUNFOLDER --follow
  starling logs RUNFOLDER --round 7
  starling logs ana.jsonl bo.jsonl --round 7 --json | jq .slowest
  starling logs RUNFOLDER --stats
  starling logs RUNFOLDER --round 3 --level warn
  starling logs RUNFOLDER --learner 7 --json | jq .event

Exit status: 0 done; 1 a log cannot be read, or has no record; 2 wrong usage, or nothing of that learner or round."""


# ---- the command line ----

def parser() -> Parser:
    p = Parser("starling logs", "RUNFOLDER|FILE...",
               "Print the logs of any number of learners as one, in the order of time (UTC), or explain a round.", EXAMPLES)
    p.add_argument("paths", metavar="RUNFOLDER|FILE", nargs="*", help=argparse.SUPPRESS)
    p.add_argument("-r", "--round", metavar="N", help="explain round N; with a filter, --follow or --records, print its records")
    p.add_argument("-s", "--stats", action="store_true", help="print p50, p95 and max of each phase, bytes, and the slowest learners")
    p.add_argument("-t", "--trace", metavar="FILE", help="write the run as a trace that ui.perfetto.dev and chrome://tracing open")
    p.add_argument("-l", "--learner", metavar="ID", help="only records of this learner, by id or name")
    p.add_argument("-p", "--peer", metavar="ID", help="only records that name this learner as a peer, by id or name")
    p.add_argument("-P", "--phase", metavar="NAME", help="only records of this phase, such as mix")
    p.add_argument("-L", "--level", metavar="LEVEL", default="debug",
                   help="only records of LEVEL and above: debug, info, warn or error (debug)")
    p.add_argument("-R", "--records", action="store_true", help="print records, also with --round")
    p.add_argument("-f", "--follow", action="store_true", help="continue with new records, until Ctrl-C")
    p.add_argument("-j", "--json", action="store_true", help="print JSON: records as they are in the files, a round or figures")
    return p


class Request:
    """What is asked for."""

    def __init__(self, arguments: list[str]) -> None:
        p = parser()
        o = self.options = p.parse_intermixed_args(arguments)
        if o.level not in LEVELS:
            say(f"--level: '{o.level}' is not one of {', '.join(LEVELS)}")
            sys.exit(USAGE)
        if o.round is not None and not (re.fullmatch("[0-9]{1,10}", o.round) and 1 <= int(o.round) <= ROUND_MOST):
            say(f"--round {o.round}: must be a whole number from 1 to {ROUND_MOST}")
            sys.exit(USAGE)
        self.round = int(o.round or 0)
        self.filter = Filter(o.learner, o.peer, o.phase, o.level, self.round)
        self.records = self.filter.any() or o.follow or o.records
        if o.stats and o.trace is not None:
            p.error("give --stats or --trace, not both")
        self.whole = o.stats or o.trace is not None
        if self.whole and (self.records or self.round):
            p.error(f"{'--stats' if o.stats else '--trace'} takes the whole run: leave out --round and the filters of records")
        if not o.paths:
            p.error(MISSING)


# ---- a round, figures, a trace ----

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


def show_round(timeline: Timeline, path: str, t: int, as_json: bool) -> int:
    document = timeline.round(t)
    if document is None:
        run = timeline.run()
        return no_round(path, t, "", run["first"], run["last"])
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
        say(f"{path}: {failure.strerror}")
        return FAILED
    return 0


def show_run(logs: Logs, request: Request) -> int:
    timeline, o = Timeline(), request.options
    name_run(timeline, o.paths)
    for record in logs.records():
        timeline.take(record)
    if o.trace is not None:
        return write_trace(timeline, o.trace)
    if not o.stats:
        return show_round(timeline, o.paths[0], request.round, o.json)
    figures = stats.of_timeline(timeline)
    show(stats.lines(figures), figures if o.json else None)
    return 0


# ---- the command ----

def show_records(logs: Logs, request: Request) -> int:
    o = request.options
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    if o.peer is not None:
        see_names(o.paths, request.filter)
    stream = Stream(logs, request.filter, o.json, colour)
    if o.follow:
        return stream.follow()
    stream.print()
    return stream.judge()


def say_skipped(skipped: Skipped, what: str, why: str) -> None:
    if skipped.count > 0:
        say(f"{skipped.count} {what}{'' if skipped.count == 1 else 's'}{why} left out, the first at {skipped.first}")


def run(arguments: list[str]) -> int:
    request = Request(arguments)
    with Logs(request.options.paths, request.options.follow) as logs:
        status = show_run(logs, request) if request.whole or (request.round and not request.records) else show_records(logs, request)
    sys.stdout.flush()
    say_skipped(logs.malformed, "malformed line", "")
    say_skipped(logs.other_version, "record", " of another version")
    if logs.taken or request.options.follow or not logs.malformed.count + logs.other_version.count:
        return status
    say(f"{', '.join(request.options.paths)}: no line is a record of a learner")
    return status or FAILED


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    signal.signal(signal.SIGPIPE, lambda *_: os._exit(0))  # the rest would be read for no reader
    for out in (sys.stdout, sys.stderr):
        out.reconfigure(encoding="utf-8", errors="replace")
    return guard("starling logs", lambda: run(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
