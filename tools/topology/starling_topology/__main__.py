"""The command `starling topology import`; see starling-topology(1)."""
from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import textwrap
from array import array
from collections.abc import Iterable
from typing import Any, NoReturn, Optional

from starling_timeline.command import FAILED, USAGE, guard
from starling_topology import edges, movements
from starling_topology.text import NODES, InputError, Names, Text, read, shown

FORMATS = ("edges", "bonnmotion", "ns2")
EVERY = 10.0  # seconds between steps of a movement
REAL_MOST = 1e9  # metres, seconds
COLUMNS_MOST = 1000
HELP = """
edges: two names in each line, as NetworkX writes them; data after them is skipped, # starts a comment, and a loop adds a node
without a link. Each file is a step, in the order given. With --by, each edge has its own step or time, and the times that occur
become the steps. A first line that names columns is skipped; the nodes are then the first two columns that are not a time (t,
time, timestamp, ...), and --by may be a name of the line.

bonnmotion, ns2: one file, also .gz. Steps are taken at regular times from 0 to the end of the last movement; two nodes are in
range if they are within METRES of each other at that time. Heights are not used.

Nodes whose names are not 1 to N become learners in numeric or alphabetical order; comments in the schedule give their names.

Examples:
  starling topology import monday.edges tuesday.edges >week.txt
  starling topology import contacts.edges --by time -o contacts.txt
  starling topology import city.movements.gz --range 150 >city.txt
  starling launch --topology city.txt

Exit status: 0 done; 1 failed; 2 bad input."""


def say(text: str) -> None:
    """Print a line on standard error; of a terminal, as many as it needs."""
    if sys.stderr.isatty():
        text = textwrap.fill(text, max(shutil.get_terminal_size().columns, 16), subsequent_indent="    ")
    sys.stderr.buffer.write(text.encode("latin-1", "replace") + b"\n")
    sys.stderr.buffer.flush()


# ---- the command line ----

def usage_error(text: str) -> NoReturn:
    say(f"starling topology import: {text}")
    sys.exit(USAGE)


class Parser(argparse.ArgumentParser):
    def print_help(self, file: Any = None) -> NoReturn:
        print(self.format_help(), end="", file=file, flush=True)
        sys.exit(0)

    def error(self, message: str) -> NoReturn:
        usage_error(f"{shown(message)}; see 'starling topology import --help'")


def parser() -> Parser:
    """Return the parser of the command line. Values are checked after it, for messages like those of the other commands."""
    p = Parser(prog="starling topology import", usage="%(prog)s [OPTION...] FILE...", add_help=False, epilog=HELP,
               formatter_class=argparse.RawDescriptionHelpFormatter,
               description="Make a schedule from recorded data: NetworkX edge lists, movements of BonnMotion and ns-2.")
    p.add_argument("files", metavar="FILE", nargs="*", help='"-" is standard input')
    p.add_argument("--format", metavar="FORMAT", help="edges, bonnmotion or ns2 (detected)")
    p.add_argument("--range", metavar="METRES", help="movements: distance up to which two nodes are linked")
    p.add_argument("--every", metavar="SECONDS", help=f"movements: time between two steps ({EVERY:g})")
    p.add_argument("--by", metavar="KEY", help="edges: key, or column from 3 on, of the step or time of an edge")
    p.add_argument("--steps", metavar="S", help="import only the first S steps")
    p.add_argument("-o", "--output", metavar="FILE", help="write the schedule there (standard output)")
    p.add_argument("--json", action="store_true", help="print the summary as JSON on standard output; needs -o")
    p.add_argument("-?", "-h", "--help", action="help", help="show this help")
    return p


def real(option: str, text: Optional[str]) -> Optional[float]:
    """Return the value of an option that is a number above 0."""
    if text is None:
        return None
    value = float(text) if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text) else 0
    if not 0 < value <= REAL_MOST:
        usage_error(f"--{option} {shown(text)}: must be above 0, at most {REAL_MOST:g}")
    return value


def whole(text: str, least: int, most: int) -> Optional[int]:
    return int(text) if re.fullmatch("[0-9]{1,9}", text) and least <= int(text) <= most else None


def column_or_key(text: Optional[str]) -> edges.By:
    """Return what --by means: a column if it is a number, else a key."""
    if text == "":
        usage_error("--by needs a key, or a column from 3 on")
    if text is None or not re.fullmatch("[0-9]+", text):
        return None if text is None else shown(text)
    column = whole(text, 3, COLUMNS_MOST)
    if column is None:
        usage_error(f"--by {text}: columns 1 and 2 are the nodes; from 3 to {COLUMNS_MOST}")
    return column


class Request:
    """What is asked for."""

    def __init__(self, arguments: list[str]) -> None:
        o = parser().parse_intermixed_args(arguments)
        self.files, self.format, self.output, self.json = o.files, o.format, o.output, o.json
        if o.format not in (None, *FORMATS):
            usage_error(f"--format {shown(o.format)}: must be edges, bonnmotion or ns2")
        self.reach, self.every, self.by = real("range", o.range), real("every", o.every), column_or_key(o.by)
        self.steps = None if o.steps is None else whole(o.steps, 1, movements.STEPS_MOST)
        if o.steps is not None and self.steps is None:
            usage_error(f"--steps {shown(o.steps)}: must be a whole number from 1 to {movements.STEPS_MOST}")
        if not self.files:
            usage_error("no file given; \"-\" is standard input; see 'starling topology import --help'")
        if self.json and self.output is None:
            usage_error("--json prints on standard output: write the schedule to a file with -o FILE")

    def fail(self, what: str) -> InputError:
        """Return an error that concerns all files, with the name of the first one."""
        return InputError(f"{shown(self.files[0])}: {what}")

    def check(self, form: str) -> None:
        """Refuse options that do not fit the format."""
        force = "" if self.format else " (if the format is another, give it with --format)"
        if form == "edges":
            for option, value in (("range", self.reach), ("every", self.every)):
                if value is not None:
                    raise self.fail(f"an edge list takes no --{option}{force}")
        elif self.by is not None:
            raise self.fail(f"a movement ({form}) takes no --by{force}")
        elif len(self.files) > 1:
            raise self.fail(f"a movement ({form}) is one file, not {len(self.files)}{force}")
        elif self.reach is None:
            raise self.fail(f"a movement ({form}) needs --range, the reach of a link in metres{force}")


# ---- files ----

def guess(text: Text) -> Optional[str]:
    """Return the format that the text seems to have, None if it is empty. BonnMotion writes times with a point."""
    for line in text.lines():
        line = line.lstrip(" \t")
        if line.startswith("#3D"):
            return "bonnmotion"
        if line.startswith(("$", "set ")):
            return "ns2"
        if not line or line.startswith("#"):
            continue
        words = re.findall("[^ \t]+", line)
        numbers = all(re.fullmatch(r"[0-9+\-.eE]+", word) for word in words)
        return "bonnmotion" if numbers and len(words) >= 3 and ("." in words[0] or len(words) > 4) else "edges"
    return None


def is_schedule(text: Text) -> bool:
    for line in text.lines():
        line = line.lstrip(" \t")
        if line and not line.startswith("#"):
            return re.match("learners[ \t]*[+-]?[0-9]", line) is not None
    return False


class Import:
    """What the files have: names, and either contacts or tracks."""

    def __init__(self, request: Request) -> None:
        self.request, self.format = request, request.format
        self.names, self.contacts = Names(), edges.Contacts()
        self.tracks: list[movements.Track] = []
        if self.format:
            request.check(self.format)
        for place, path in enumerate(request.files):
            self.read(read(path), place)
        count = len(self.names.indexes)
        if count < 2:
            raise request.fail(f"{'one' if count else 'no'} node; a schedule needs two or more")

    def read(self, text: Text, place: int) -> None:
        """Read a file; the first that is not empty gives the format of all."""
        if self.format is None:
            if is_schedule(text):
                raise InputError(f"{text.name}: is a schedule already and needs no import")
            self.format = guess(text)
            if self.format:
                self.request.check(self.format)
        if self.format == "edges":
            note = edges.read(text, self.request.by, place, self.names, self.contacts)
            if note:
                say(note)
        elif self.format:
            self.tracks = (movements.read_ns2 if self.format == "ns2" else movements.read_bonnmotion)(text, self.names)

    def pairs(self) -> Iterable[list[tuple[int, int]]]:
        """Return the linked nodes of each step."""
        if self.format == "edges":
            return edges.steps(self.contacts, self.request.by, len(self.request.files), self.request.steps)
        return movements.steps(self.tracks, self.request.reach or 0, self.request.every or EVERY, self.request.steps)


# ---- the schedule ----

class Schedule:
    """Links between learners, step by step, and a summary."""

    def __init__(self, names: list[str], learner: dict[int, int], pairs: Iterable[list[tuple[int, int]]]) -> None:
        self.names, self.steps, self.connected, links = names, [], 0, 0
        for step in pairs:
            ends = [(learner[one], learner[two]) for one, two in step]
            self.steps.append(array("I", sorted({min(pair) * NODES + max(pair) for pair in ends})))  # small: many links
            self.connected += self.is_connected(self.steps[-1])
            links += len(self.steps[-1])
        self.degree = 2.0 * links / len(names) / len(self.steps)

    def is_connected(self, links: array[int]) -> bool:
        parts, part = len(self.names), list(range(len(self.names)))
        for link in links:
            one, two = divmod(link, NODES)
            while part[one] != one:
                part[one] = one = part[part[one]]
            while part[two] != two:
                part[two] = two = part[part[two]]
            parts -= one != two
            part[one] = two
        return parts == 1

    def text(self, form: str) -> Iterable[str]:
        """Yield the lines of schedule(5)."""
        yield f"# imported, {form}\n"
        if self.names != [str(i + 1) for i in range(len(self.names))]:
            yield "".join(f"# learner {i}: {name}\n" for i, name in enumerate(self.names, 1))
        yield f"learners {len(self.names)}\n"
        for step in self.steps:
            yield "step" + "".join(f" {link // NODES + 1}-{link % NODES + 1}" for link in step) + "\n"


def write(path: Optional[str], lines: Iterable[str]) -> None:
    """Write to a file, or to standard output."""
    if path is None:
        sys.stdout.buffer.writelines(line.encode("latin-1") for line in lines)
        sys.stdout.flush()
        return
    try:
        file = open(path, "wb")
    except OSError as failure:
        raise InputError(f"{shown(path)}: {failure.strerror}") from None
    try:
        with file:
            file.writelines(line.encode("latin-1") for line in lines)
    except OSError as failure:
        raise InputError(f"{shown(path)}: cannot be written: {failure.strerror}", FAILED) from None


def utf8(name: str) -> str:
    try:
        return name.encode("latin-1").decode()
    except UnicodeDecodeError:
        return "(not UTF-8)"


def summarise(schedule: Schedule, form: str, as_json: bool) -> None:
    count = len(schedule.steps)
    if not as_json:
        say(f"{len(schedule.names)} learners, {count} step{'' if count == 1 else 's'}, {schedule.connected} of them connected; "
            f"mean degree {schedule.degree:.1f} (read as {form})")
        return
    report = {"format": form, "learners": len(schedule.names), "steps": count, "connected": schedule.connected, "degree": schedule.degree,
              "nodes": [utf8(name) for name in schedule.names]}
    sys.stdout.buffer.write(json.dumps(report, indent=2, ensure_ascii=False).encode() + b"\n")


def run(request: Request) -> int:
    read_in = Import(request)
    names, form = read_in.names.sorted(), str(read_in.format)
    place = {name: learner for learner, name in enumerate(names)}
    learner = {index: place[name] for name, index in read_in.names.indexes.items()}
    try:
        schedule = Schedule(names, learner, read_in.pairs())
    except InputError as wrong:
        raise request.fail(str(wrong)) from None
    write(request.output, schedule.text(form))
    summarise(schedule, form, request.json)
    return 0


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    return guard("starling topology import", lambda: run(Request(arguments)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
