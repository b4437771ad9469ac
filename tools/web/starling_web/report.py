"""The report of a run: report.html, which opens without a server, rounds.csv and learners.csv. The command `starling report`."""
from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from starling_timeline.command import FAILED, CommandError, Parser, guard
from starling_timeline.logs import Logs
from starling_timeline.timeline import Timeline
from starling_timeline.values import dumps

from starling_web import rows
from starling_web.live import page
from starling_web.sources import Files, Source, excerpt

DOCUMENTS_BYTES = 16 << 20
PARTS_MOST = 20_000  # rounds times learners that are kept for them: about 60 MB
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


def last_documents(timeline: Timeline, last: int) -> dict[int, str]:
    """Return the documents of the last rounds, as JSON: as many as the page has."""
    documents: dict[int, str] = {}
    size, t = 0, last
    while t:
        document = dumps(timeline.round(t), DIGITS)
        size += len(document)
        if size > DOCUMENTS_BYTES:
            break
        documents[t] = document
        t = timeline.round_before(t)
    return documents


def safe(json: str) -> str:
    """Return JSON that may stand in a script element: "<" opens no tag."""
    return json.replace("<", "\\u003c")


class Writer:
    """Writes the three files round by round. `out`: in the order of NAMES."""

    def __init__(self, out: list[TextIO]) -> None:
        self.html, self.rounds, self.learners = out
        before, self.after, _ = page()
        self.comma = ""
        self.html.write(f'{before}{{"rounds":[')
        self.rounds.write(rows.line(rows.ROUNDS_HEAD).replace('"', ""))
        self.learners.write(rows.line(rows.LEARNERS_HEAD).replace('"', ""))

    def add(self, document: dict[str, Any], json: str = "") -> None:
        """Add a round; `json`: its document, if the page is to have it."""
        row, shown = rows.round_row(document), f',"document":{json}' if json else ""
        self.html.write(safe(f'{self.comma}{{"row":{dumps(row, DIGITS)}{shown}}}'))
        self.rounds.write(rows.line(row.values()))
        self.learners.write(rows.learner_lines(document))
        self.comma = ","

    def end(self, log: dict[int, Any], text: str) -> None:
        self.html.write(safe(f'],"log":{dumps(log, DIGITS)},"text":"{text}"}}') + self.after)


def write_all(timeline: Timeline, source: Source, records: Iterable[dict[str, Any]], writer: Writer) -> None:
    """Rounds for which there is no room in the timeline are written when they leave it."""
    timeline.bound(PARTS_MOST, 1, writer.add)
    for record in records:
        timeline.take(record)
    run, t = timeline.run(), 0
    documents = last_documents(timeline, run["last"])
    while t := timeline.changed_since(0, t):
        writer.add(timeline.round(t), documents.get(t, ""))
    kept = min(documents, default=run["last"] + 1)
    note = f"; rounds before {kept} only in the charts" if timeline.dropped_to or kept > run["first"] else ""
    log = {learner["id"]: excerpt(source, learner["id"], 0, "info", LOG_RECORDS) for learner in run["learners"]}
    writer.end(log, f"report{note}")


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


def write(timeline: Timeline, source: Source, folder: str, records: Iterator[dict[str, Any]] = iter(())) -> bool:
    """Write the three files into `folder`, of the rounds of the timeline and of `records`. The page has a row of each round, and of the last
    rounds the documents: as many as fit into 16 MB. Return False if no round is known."""
    while not timeline.order and (record := next(records, None)) is not None:
        timeline.take(record)
    if not timeline.order:
        return False
    try:
        with contextlib.ExitStack() as files:
            out = [files.enter_context(replaced(os.path.join(folder, name))) for name in NAMES]
            write_all(timeline, source, records, Writer(out))
    except OSError as failure:
        raise CommandError(f"{failure.filename or folder}: {failure.strerror}", FAILED) from None
    return True


def write_anew(folder: str) -> bool:
    """Write the three files, from the logs of the folder; return False if they tell of no round."""
    timeline = Timeline()
    name_run(timeline, folder)
    with Logs([folder]) as logs:
        return write(timeline, Files(logs), folder, logs.records())


def run(folder: str) -> int:
    if not write_anew(folder):
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
