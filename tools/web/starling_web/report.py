"""The report of a run: report.html, which opens without a server, rounds.csv and learners.csv. The command `starling report`."""
from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional, TextIO

from starling_timeline.command import FAILED, CommandError, Parser, guard
from starling_timeline.logs import Logs
from starling_timeline.timeline import Timeline
from starling_timeline.values import dumps

from starling_web import rows
from starling_web.live import page
from starling_web.sources import Files, Source, excerpt

DOCUMENTS_BYTES = 16 << 20
LOG_RECORDS = 60  # of one learner
DIGITS = 9
NAMES = ("report.html", "rounds.csv", "learners.csv")
ABOUT = """Write report.html, rounds.csv and learners.csv into the folder of a run, from the logs of its learners. The report is
one file that opens in any browser, without a server: graph, phases, waits, loss, and whether all have the same model."""
HELP = """Examples:
  starling report RUNFOLDER
  starling launch --web                 # writes it at the end of the run

See also: starling watch --help"""


def rounds_of(folder: str) -> int:
    """Return the setting `rounds` of a run folder, of its first learner or of the roster; 0: not known."""
    for name in ("learner-01/config.yaml", "learner-001/config.yaml", "learner-0001/config.yaml", "roster.yaml"):
        with contextlib.suppress(OSError), open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            found = re.search(r"(?:^|[{,]) *rounds: *[\"']?([0-9]{1,15})\b", file.read().partition("\nmembers:")[0], re.MULTILINE)
            if found is not None:
                return int(found[1])
    return 0


def name_run(timeline: Timeline, folder: str) -> None:
    """Name the run after its folder, with the number of rounds of its configuration."""
    timeline.name(os.path.basename(os.path.realpath(folder)), rounds_of(folder))


class Part(NamedTuple):
    """What the files have of one round."""
    row: dict[str, Any]
    learners: str  # lines of learners.csv
    document: str  # JSON


def make(timeline: Timeline, t: int) -> Optional[Part]:
    document = timeline.round(t)
    return None if document is None else Part(rows.round_row(document), rows.learner_lines(document), dumps(document, DIGITS))


def last_parts(timeline: Timeline, last: int) -> dict[int, Part]:
    """Return the last rounds, the latest first: as many as the page has documents of."""
    parts: dict[int, Part] = {}
    size, t = 0, last
    while t:
        part = make(timeline, t)
        size += len(part.document) if part is not None else 0
        if size > DOCUMENTS_BYTES:
            break
        if part is not None:
            parts[t] = part
        t = timeline.round_before(t)
    return parts


def safe(json: str) -> str:
    """Return JSON that may stand in a script element: "<" opens no tag."""
    return json.replace("<", "\\u003c")


def write_all(timeline: Timeline, source: Source, run: dict[str, Any], out: list[TextIO]) -> None:
    html, rounds, learners = out
    before, after, _ = page()
    parts = last_parts(timeline, run["last"])
    kept, t, comma = min(parts, default=run["last"] + 1), 0, ""
    note = f"; rounds before {kept} only in the charts" if kept > run["first"] else ""
    html.write(f'{before}{{"text":"report{note}","rounds":[')
    rounds.write(rows.line(rows.ROUNDS_HEAD).replace('"', ""))
    learners.write(rows.line(rows.LEARNERS_HEAD).replace('"', ""))
    while t := timeline.changed_since(0, t):
        part = parts.get(t) or make(timeline, t)
        if part is None:
            continue
        document = f',"document":{part.document}' if t >= kept else ""
        html.write(safe(f'{comma}{{"row":{dumps(part.row, DIGITS)}{document}}}'))
        rounds.write(rows.line(part.row.values()))
        learners.write(part.learners)
        comma = ","
    log = {learner["id"]: excerpt(source, learner["id"], 0, "info", LOG_RECORDS) for learner in run["learners"]}
    html.write(safe(f'],"log":{dumps(log, DIGITS)}}}') + after)


@contextlib.contextmanager
def replaced(path: str) -> Iterator[TextIO]:
    """Write a file that gets its name once it is whole."""
    temporary = f"{path}.new"
    try:
        with open(temporary, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as out:
            yield out
        os.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def write(timeline: Timeline, source: Source, folder: str) -> bool:
    """Write the three files into `folder`. The page has a row of each round, and of the last rounds the documents: as many as fit into
    16 MB. Return False if no round is known."""
    run = timeline.run()
    if run["last"] == 0:
        return False
    try:
        with contextlib.ExitStack() as files:
            write_all(timeline, source, run, [files.enter_context(replaced(os.path.join(folder, name))) for name in NAMES])
    except OSError as failure:
        raise CommandError(f"{failure.filename or folder}: {failure.strerror}", FAILED) from None
    return True


def run(folder: str) -> int:
    timeline, logs = Timeline(), Logs([folder])
    name_run(timeline, folder)
    for record in logs.records():
        timeline.take(record)
    if not write(timeline, Files(logs), folder):
        raise CommandError(f"{folder}: its logs tell of no round")
    print(*(f"{folder}/{name}" for name in NAMES), sep="\n", flush=True)
    return 0


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    parser = Parser("starling report", "RUNFOLDER", ABOUT, HELP)
    parser.add_argument("folder", metavar="RUNFOLDER", nargs="*", help="folder of the run")
    folders = parser.parse_args(arguments).folder
    if len(folders) != 1:
        parser.error("give the run folder" if not folders else f"'{folders[1]}' is one argument too many; give one RUNFOLDER")
    return guard("starling report", lambda: run(folders[0]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
